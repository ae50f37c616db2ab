//! The stored weights are those of the last measurement.

use super::{TINY, file, finished, last};
use fuld_train::data::DataSet;
use fuld_train::network::{Layer, Network};

/// Returns the tensors of a file in the safetensors format, sorted by name.
fn tensors(bytes: &[u8]) -> Vec<(String, Vec<usize>, Vec<f32>)> {
    let (length, rest) = bytes.split_first_chunk().unwrap();
    let (header, numbers) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let header: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(header).unwrap();
    let whole = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    let tensor = |(name, entry): (String, serde_json::Value)| {
        assert_eq!(entry["dtype"], "F32");
        let shape: Vec<usize> = entry["shape"].as_array().unwrap().iter().map(whole).collect();
        let part = &numbers[whole(&entry["data_offsets"][0])..whole(&entry["data_offsets"][1])];
        assert_eq!(part.len(), 4 * shape.iter().product::<usize>());
        let numbers = part.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()));
        (name, shape, numbers.collect::<Vec<f32>>())
    };
    let mut tensors: Vec<_> = header.into_iter().map(tensor).collect();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(tensors.iter().map(|(_, _, part)| 4 * part.len()).sum::<usize>(), numbers.len());
    tensors
}

#[test]
fn the_weights_reproduce_the_reported_accuracy() {
    let folder = finished(TINY);
    let layers = tensors(&file(&folder, "weights.safetensors"));
    let names: Vec<(&str, &[usize])> =
        layers.iter().map(|(name, shape, _)| (name.as_str(), shape.as_slice())).collect();
    assert_eq!(
        names,
        [
            ("layers.0.weight", &[64, 16][..]),
            ("layers.1.weight", &[16, 16]),
            ("layers.2.weight", &[16, 10])
        ]
    );
    let layer = |(_, shape, weights): (String, Vec<usize>, Vec<f32>)| Layer {
        inputs: shape[0],
        outputs: shape[1],
        weights,
    };
    let network = Network { layers: layers.into_iter().map(layer).collect() };
    let test = DataSet::load("digits", folder.path()).unwrap().test;
    let mut pixels = vec![0f32; test.len() * test.features()];
    test.gather_range(0..test.len(), &mut pixels);
    let logits = network.logits(&pixels);
    let predicted = |row: &[f32]| (0..10).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
    let right = logits
        .chunks_exact(10)
        .zip(test.labels())
        .filter(|(row, label)| predicted(row) == usize::from(**label));
    let accuracy = right.count() as f64 / test.len() as f64;
    assert_eq!(accuracy, last(&folder, "test_accuracy"));
    // Clearly above the accuracy of random weights.
    assert!(accuracy > 0.3, "{accuracy}");
}
