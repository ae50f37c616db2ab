//! The data sets that can be fetched: the publishers' files, their checksums, and the servers that
//! offer them.

use super::layout::{CIFAR10, FileLayout, MNIST};
use super::{cifar10, mnist};

/// The archives of a data set and the servers that offer them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSource {
    /// The name of the data set.
    pub name: String,
    /// The folder of the data set within the data directory.
    pub folder: String,
    /// Base addresses of the archives, in the order in which they are tried.
    pub mirrors: Vec<String>,
    /// The files to fetch.
    pub archives: Vec<Archive>,
}

/// A file on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// The name of the file.
    pub name: String,
    /// The length in bytes.
    pub size: u64,
    /// The SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// The contents.
    pub contents: ArchiveContents,
}

/// The contents of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchiveContents {
    /// One compressed file, which is kept as it is.
    Compressed {
        /// The SHA-256 of the decompressed file. A file that was compressed differently, or not at
        /// all, has the same.
        sha256: String,
        /// Names under which the file may already be present.
        spellings: Vec<String>,
    },
    /// A compressed tar archive, from which these files are extracted.
    Tar(Vec<ArchiveMember>),
}

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveMember {
    /// The name of the file, without folders.
    pub name: String,
    /// The length in bytes.
    pub size: u64,
    /// The SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

/// Size and SHA-256 of each archive of MNIST, and SHA-256 of its contents.
const MNIST_SUMS: [(u64, &str, &str); 4] = [
    (
        9_912_422,
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    (
        28_881,
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    (
        1_648_877,
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    (
        4_542,
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
];

/// The copies of PyTorch and of the Common Visual Data Foundation.
const MNIST_MIRRORS: [&str; 2] = [
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
];

/// SHA-256 of each file of CIFAR-10.
const CIFAR10_SUMS: [&str; 6] = [
    "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
];

/// The publisher, then the copies that Swift for TensorFlow and MindSpore use.
const CIFAR10_MIRRORS: [&str; 3] = [
    "https://www.cs.toronto.edu/~kriz/",
    "https://storage.googleapis.com/s4tf-hosted-binaries/datasets/CIFAR10/",
    "https://mindspore-website.obs.cn-north-4.myhuaweicloud.com/notebook/datasets/",
];

/// Bytes per file of CIFAR-10: a label and three planes of 32 × 32 pixels for each of 10,000
/// images.
const CIFAR10_BATCH: u64 = 10_000 * 3_073;

impl DataSource {
    /// The names of the sets that can be fetched.
    pub const NAMES: [&str; 2] = [MNIST.set, CIFAR10.set];

    /// Returns the source of a data set by its name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "mnist" => Some(Self::mnist()),
            "cifar10" => Some(Self::cifar10()),
            _ => None,
        }
    }

    /// Returns the source of MNIST, which has four compressed files.
    pub fn mnist() -> Self {
        let archive = |(stem, (size, sum, contents)): (&&str, (u64, &str, &str))| Archive {
            name: format!("{stem}.gz"),
            size,
            sha256: sum.into(),
            contents: ArchiveContents::Compressed {
                sha256: contents.into(),
                spellings: MNIST.spellings(stem),
            },
        };
        let archives = mnist::STEMS.iter().zip(MNIST_SUMS).map(archive).collect();
        Self::from_layout(&MNIST, &MNIST_MIRRORS, archives)
    }

    /// Returns the source of CIFAR-10, which is one archive with six files.
    pub fn cifar10() -> Self {
        let member = |(name, sum): (&&str, &str)| ArchiveMember {
            name: (*name).into(),
            size: CIFAR10_BATCH,
            sha256: sum.into(),
        };
        let archive = Archive {
            name: "cifar-10-binary.tar.gz".into(),
            size: 170_052_171,
            sha256: "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd".into(),
            contents: ArchiveContents::Tar(
                cifar10::NAMES.iter().zip(CIFAR10_SUMS).map(member).collect(),
            ),
        };
        Self::from_layout(&CIFAR10, &CIFAR10_MIRRORS, vec![archive])
    }

    fn from_layout(layout: &FileLayout, mirrors: &[&str], archives: Vec<Archive>) -> Self {
        let mirrors = mirrors.iter().map(|&mirror| mirror.into()).collect();
        Self { name: layout.set.into(), folder: layout.folder.into(), mirrors, archives }
    }

    /// Replaces the servers.
    pub fn with_mirrors(self, mirrors: &[String]) -> Self {
        Self { mirrors: mirrors.to_vec(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_hexadecimal_and_mirrors_use_https() {
        for name in DataSource::NAMES {
            let source = DataSource::named(name).unwrap();
            assert_eq!(source.name, name);
            assert!(
                source.mirrors.iter().all(|url| url.starts_with("https://") && url.ends_with('/'))
            );
            for archive in source.archives {
                let mut sums = vec![archive.sha256];
                match archive.contents {
                    ArchiveContents::Compressed { sha256, spellings } => {
                        assert_eq!(spellings[0], archive.name);
                        sums.push(sha256);
                    }
                    ArchiveContents::Tar(members) => {
                        sums.extend(members.into_iter().map(|m| m.sha256))
                    }
                }
                let hexadecimal = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                assert!(sums.iter().all(|sum| sum.len() == 64 && sum.bytes().all(hexadecimal)));
            }
        }
    }
}
