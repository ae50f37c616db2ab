//! Loading of data sets from files, and errors with the byte at which a file is wrong.

use super::published_files::{gz, idx_images, idx_labels};
use fuld_train::data::{DataError, DataSet, FileFlaw};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const NAMES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

/// Returns three training images and two test images as files with the publisher's names.
fn mnist() -> [(String, Vec<u8>); 4] {
    let contents = [idx_images(3), idx_labels(&[5, 0, 9]), idx_images(2), idx_labels(&[1, 2])];
    let mut contents = contents.into_iter();
    NAMES.map(|name| (name.to_owned(), contents.next().unwrap()))
}

fn write(folder: &Path, files: &[(String, Vec<u8>)]) {
    fs::create_dir_all(folder).unwrap();
    files.iter().for_each(|(name, bytes)| fs::write(folder.join(name), bytes).unwrap());
}

fn load(folder: &Path) -> Result<DataSet, DataError> {
    DataSet::load(folder.to_str().unwrap(), Path::new("unused"))
}

/// Returns byte and flaw of the error if one of MNIST's files has these contents.
fn flaw(which: usize, bytes: Vec<u8>) -> (u64, FileFlaw) {
    let folder = TempDir::new().unwrap();
    let mut files = mnist();
    files[which].1 = bytes;
    write(folder.path(), &files);
    match load(folder.path()).unwrap_err() {
        DataError::Damaged { path, byte, flaw } => {
            assert_eq!(path, folder.path().join(NAMES[which]));
            (byte, flaw)
        }
        other => panic!("{other}"),
    }
}

#[test]
fn digits_require_no_files() {
    let set = DataSet::load("digits", Path::new("nowhere")).unwrap();
    assert_eq!((set.name, set.train.len(), set.test.len(), set.classes), ("digits", 1442, 355, 10));
    let mut all = vec![0.0; 1442 * 64];
    set.train.gather_range(0..1442, &mut all);
    let moment =
        |power| all.iter().map(|&x| f64::from(x).powi(power)).sum::<f64>() / all.len() as f64;
    assert!(moment(1).abs() < 1e-6 && (moment(2) - 1.0).abs() < 1e-6);
}

#[test]
fn mnist_is_read_under_all_its_names() {
    let compressed = |bytes: &[u8]| gz(bytes);
    let members = |bytes: &[u8]| [gz(&bytes[..5]), gz(&bytes[5..])].concat();
    type Form<'a> = (&'a dyn Fn(&[u8]) -> Vec<u8>, fn(&str) -> String);
    let forms: [Form<'_>; 6] = [
        (&|bytes| bytes.to_vec(), str::to_owned),
        (&compressed, |name| format!("{name}.gz")),
        (&members, |name| format!("{name}.gz")),
        // The contents of a file, not its name, determine whether it is compressed.
        (&|bytes| bytes.to_vec(), |name| format!("{name}.gz")),
        (&compressed, str::to_owned),
        (&|bytes| bytes.to_vec(), |name| name.replace("-idx", ".idx")),
    ];
    for (form, spelling) in forms {
        let directory = TempDir::new().unwrap();
        let files = mnist().map(|(name, bytes)| (spelling(&name), form(&bytes)));
        write(&directory.path().join("mnist"), &files);
        let sets = [
            load(directory.path()),
            load(&directory.path().join("mnist")),
            DataSet::load("mnist", directory.path()),
        ];
        for set in sets.map(Result::unwrap) {
            assert_eq!(
                (set.name, set.train.labels(), set.test.labels()),
                ("mnist", &[5, 0, 9][..], &[1, 2][..])
            );
            let mut image = [0.0; 784];
            set.train.gather(&[1], &mut image);
            // The second image begins at pixel 784 ≡ 16 modulo 256.
            assert!((image[3] - (19.0 / 255.0 - 0.1307) / 0.3081f32).abs() < 1e-6);
        }
    }
}

#[test]
fn truncated_files_are_refused_with_the_byte() {
    let images = idx_images(3);
    assert_eq!(
        flaw(0, images[..100].to_vec()),
        (100, FileFlaw::Truncated { missing: 16 + 3 * 784 - 100 })
    );
    assert_eq!(flaw(0, images[..6].to_vec()), (6, FileFlaw::Truncated { missing: 2 }));
    assert_eq!(flaw(1, Vec::new()), (0, FileFlaw::Truncated { missing: 4 }));
    let packed = gz(&images);
    let (byte, cut) = flaw(0, packed[..packed.len() / 2].to_vec());
    assert!(
        matches!(cut, FileFlaw::Truncated { missing } if missing + byte == images.len() as u64),
        "{cut} at {byte}"
    );
    // The contents are complete, but the checksum after them is not.
    let (byte, cut) = flaw(0, packed[..packed.len() - 3].to_vec());
    assert!(
        byte == images.len() as u64 && matches!(cut, FileFlaw::Compression(_)),
        "{cut} at {byte}"
    );
}

#[test]
fn broken_compression_is_refused() {
    let mut packed = gz(&idx_images(3));
    let last = packed.len() - 6;
    packed[last] ^= 1;
    assert!(matches!(flaw(0, packed), (2368, FileFlaw::Compression(_))));
}

#[test]
fn trailing_bytes_are_refused() {
    let longer = |bytes: Vec<u8>| [bytes, vec![0]].concat();
    assert_eq!(flaw(0, longer(idx_images(3))), (2368, FileFlaw::TooLong));
    assert_eq!(flaw(0, gz(&longer(idx_images(3)))), (2368, FileFlaw::TooLong));
    assert_eq!(flaw(1, longer(idx_labels(&[1, 2, 3]))), (11, FileFlaw::TooLong));
    // A byte after the end of the compressed data.
    assert!(matches!(flaw(1, longer(gz(&idx_labels(&[1, 2, 3])))), (11, FileFlaw::Compression(_))));
}

#[test]
fn files_with_other_contents_are_refused() {
    let (byte, magic) = flaw(0, b"<html>not found</html>".to_vec());
    assert_eq!(
        (byte, &magic),
        (0, &FileFlaw::Magic { found: 0x3c68746d, expected: 0x0803, wanted: "images" })
    );
    assert_eq!(
        flaw(1, idx_images(3)),
        (0, FileFlaw::Exchanged { found: "images", wanted: "labels" })
    );
    assert_eq!(
        flaw(2, gz(&idx_labels(&[1]))),
        (0, FileFlaw::Exchanged { found: "labels", wanted: "images" })
    );
    let mut narrow = idx_images(3);
    narrow[15] = 27;
    assert_eq!(flaw(0, narrow), (8, FileFlaw::Dimensions { height: 28, width: 27 }));
    assert_eq!(flaw(0, idx_images(0)), (4, FileFlaw::Empty("images")));
}

#[test]
fn labels_must_be_classes_and_match_the_images() {
    assert_eq!(flaw(1, idx_labels(&[0, 10, 11])), (9, FileFlaw::Label(10)));
    assert_eq!(flaw(3, gz(&idx_labels(&[9, 255]))), (9, FileFlaw::Label(255)));
    let (byte, count) = flaw(3, idx_labels(&[1, 2, 3]));
    assert!(byte == 4 && matches!(count, FileFlaw::Count { labels: 3, images: 2, .. }), "{count}");
}

/// The header describes three terabytes, which must not be allocated.
#[test]
fn a_wrong_header_allocates_no_memory() {
    let mut images = idx_images(3);
    images[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    let missing = u64::from(u32::MAX) * 784 - 3 * 784;
    assert_eq!(flaw(0, images.clone()), (2368, FileFlaw::Truncated { missing }));
    assert_eq!(flaw(0, gz(&images)), (2368, FileFlaw::Truncated { missing }));
}

const BATCH: usize = 30_730_000;
const BATCHES: [&str; 6] = [
    "data_batch_1.bin",
    "data_batch_2.bin",
    "data_batch_3.bin",
    "data_batch_4.bin",
    "data_batch_5.bin",
    "test_batch.bin",
];

/// Creates CIFAR-10 with only zeros, as sparse files that take no space.
fn cifar10(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    BATCHES.iter().for_each(|name| {
        fs::File::create(folder.join(name)).unwrap().set_len(BATCH as u64).unwrap()
    });
}

/// Changes bytes of a file, or its length.
fn damage(path: &Path, at: usize, bytes: &[u8], length: usize) {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at as u64)).unwrap();
    file.write_all(bytes).unwrap();
    file.set_len(length as u64).unwrap();
}

#[test]
fn cifar10_is_read() {
    let directory = TempDir::new().unwrap();
    let folder = directory.path().join("cifar-10-batches-bin");
    cifar10(&folder);
    // The last image of the third batch: label 7, red 255 at first, blue 51 at last.
    let start = BATCH - 3073;
    damage(&folder.join(BATCHES[2]), start, &[7, 255], BATCH);
    damage(&folder.join(BATCHES[2]), BATCH - 1, &[51], BATCH);
    let set = DataSet::load("cifar10", directory.path()).unwrap();
    assert_eq!((set.name, set.train.len(), set.test.len()), ("cifar10", 50_000, 10_000));
    let mut image = [0.0f32; 3072];
    set.train.gather(&[29_999], &mut image);
    assert_eq!(set.train.labels()[29_999], 7);
    let near = |place: usize, number: f32| (image[place] - number).abs() < 1e-6;
    assert!(near(0, (1.0 - 0.491) / 0.247) && near(1024, -0.482 / 0.243));
    assert!(near(3071, (51.0 / 255.0 - 0.447) / 0.262));
}

#[test]
fn damaged_batches_are_refused() {
    let batch = |at, bytes: &[u8], length| {
        let folder = TempDir::new().unwrap();
        cifar10(folder.path());
        damage(&folder.path().join(BATCHES[0]), at, bytes, length);
        match load(folder.path()).unwrap_err() {
            DataError::Damaged { path, byte, flaw } => {
                assert_eq!(path, folder.path().join(BATCHES[0]));
                (byte, flaw)
            }
            other => panic!("{other}"),
        }
    };
    assert_eq!(batch(0, &[0], BATCH + 1), (BATCH as u64, FileFlaw::TooLong));
    assert_eq!(batch(0, &[0], 5000), (5000, FileFlaw::Truncated { missing: BATCH as u64 - 5000 }));
    assert_eq!(batch(0, &[0], 3073), (3073, FileFlaw::Truncated { missing: BATCH as u64 - 3073 }));
    assert_eq!(batch(2 * 3073, &[10], BATCH), (2 * 3073, FileFlaw::Label(10)));
}

#[test]
fn errors_name_the_folder_and_the_missing_files() {
    let directory = TempDir::new().unwrap();
    let text = |source: &str| DataSet::load(source, directory.path()).unwrap_err().to_string();
    let path = directory.path().to_str().unwrap();

    assert!(
        text("mnits")
            .contains("unknown data set \"mnits\": give digits, mnist, cifar10 or a folder")
    );
    let absent = text("mnist");
    assert!(absent.contains("fuld data fetch mnist") && absent.contains(path), "{absent}");
    assert!(text(path).contains("neither MNIST"));

    write(directory.path(), &mnist()[1..3]);
    for source in ["mnist", path] {
        let missing = text(source);
        assert!(
            missing.ends_with("missing: train-images-idx3-ubyte.gz, t10k-labels-idx1-ubyte.gz"),
            "{missing}"
        );
    }
    write(directory.path(), &mnist());
    assert!(load(directory.path()).is_ok());
    cifar10(&directory.path().join("cifar-10-batches-bin"));
    let both = text(path);
    assert!(both.contains("both MNIST") && both.contains("name the folder of one"), "{both}");
    fs::remove_file(directory.path().join("cifar-10-batches-bin/data_batch_4.bin")).unwrap();
    assert!(text("cifar10").ends_with("missing: data_batch_4.bin"));
}
