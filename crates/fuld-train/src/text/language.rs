//! A synthetic language: word frequencies follow Zipf's law, and hidden topics make each word depend on those before it.
//!
//! Every position of a sentence has a topic, which usually stays the same from one word to the next. With probability `loyalty` a word
//! is drawn from the words of its topic, otherwise from all words; in both cases in proportion to its frequency. A topic is as likely
//! as its words together, so every word at every position has its Zipf probability. The posterior of the hidden topic can be computed,
//! so the lowest loss any model can reach is known for every text.

use fuld::random::{Purpose, Stream};

/// A language. Word w, counted from 0, belongs to topic w mod `topics`.
#[derive(Clone, Debug)]
pub struct Language {
    topics: usize,
    loyalty: f64,
    stay: f64,
    /// Frequency of each word: proportional to 1/(w + 1), normalised.
    frequency: Vec<f64>,
    /// Probability of each topic: the sum over its words.
    weight: Vec<f64>,
    /// Cumulative frequencies of all words.
    all: Vec<f64>,
    /// Cumulative frequencies of the words of each topic.
    own: Vec<Vec<f64>>,
}

/// Sentences of equal length, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The words.
    pub words: Vec<u32>,
    /// Words per sentence.
    pub length: usize,
}

impl Text {
    /// Iterates over the sentences.
    pub fn sentences(&self) -> impl Iterator<Item = &[u32]> {
        self.words.chunks_exact(self.length)
    }
}

/// Random numbers per word: whether the topic changes, the new topic, whether the word is from the topic, which word.
const DRAWS: u64 = 4;

impl Language {
    /// Makes a language with at least as many words as topics. `loyalty` and `stay` (the probability that the topic is kept) are in [0, 1].
    pub fn new(words: usize, topics: usize, loyalty: f64, stay: f64) -> Self {
        let total: f64 = (1..=words).map(|rank| 1.0 / rank as f64).sum();
        let frequency: Vec<f64> = (1..=words).map(|rank| 1.0 / rank as f64 / total).collect();
        let own: Vec<Vec<f64>> =
            (0..topics).map(|topic| sums(frequency.iter().skip(topic).step_by(topics))).collect();
        let weight = own.iter().map(|sums| sums.last().copied().unwrap_or(0.0)).collect();
        Self { topics, loyalty, stay, all: sums(&frequency), frequency, weight, own }
    }

    /// Returns the number of words.
    pub fn words(&self) -> usize {
        self.frequency.len()
    }

    /// Returns the probability of each word.
    pub fn frequencies(&self) -> &[f64] {
        &self.frequency
    }

    /// Returns sentences `first`, `first` + 1, … of the text that a seed and a purpose determine.
    pub fn text(&self, first: u64, sentences: usize, length: usize, seed: u64, purpose: Purpose) -> Text {
        let mut words = Vec::with_capacity(sentences * length);
        for sentence in first..first + sentences as u64 {
            let stream = Stream::new(seed, sentence, purpose);
            let mut topic = 0;
            for place in 0..length as u64 {
                let [change, which, loyal, word] =
                    std::array::from_fn(|draw| uniform(stream.word(DRAWS * place + draw as u64)));
                if place == 0 || change >= self.stay {
                    topic = find(&self.all, which) % self.topics;
                }
                let word = if loyal < self.loyalty {
                    topic + self.topics * find(&self.own[topic], word)
                } else {
                    find(&self.all, word)
                };
                words.push(word as u32);
            }
        }
        Text { words, length }
    }

    /// Returns the loss of a model that knows only the word frequencies.
    pub fn unigram_entropy(&self) -> f64 {
        -self.frequency.iter().map(|p| p * p.ln()).sum::<f64>()
    }

    /// Returns the lowest achievable loss in nats of each word of a text except the first of its sentence: minus the logarithm of its
    /// probability given the words before it.
    pub fn lowest_losses(&self, text: &Text) -> Vec<f64> {
        let mut losses = Vec::with_capacity(text.words.len());
        for sentence in text.sentences() {
            // Probability of each topic at this position, given the words before it.
            let mut belief = self.weight.clone();
            for (place, &word) in sentence.iter().enumerate() {
                belief.iter_mut().enumerate().for_each(|(topic, p)| *p *= self.chance(word as usize, topic));
                let chance: f64 = belief.iter().sum();
                if place > 0 {
                    losses.push(-chance.ln());
                }
                for (p, weight) in belief.iter_mut().zip(&self.weight) {
                    *p = self.stay * *p / chance + (1.0 - self.stay) * weight;
                }
            }
        }
        losses
    }

    /// Returns the probability of a word in a topic.
    fn chance(&self, word: usize, topic: usize) -> f64 {
        let own = if word % self.topics == topic { self.loyalty / self.weight[topic] } else { 0.0 };
        self.frequency[word] * (own + 1.0 - self.loyalty)
    }
}

fn sums<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Vec<f64> {
    numbers
        .into_iter()
        .scan(0.0, |sum, number| {
            *sum += number;
            Some(*sum)
        })
        .collect()
}

/// Maps a random word to [0, 1).
fn uniform(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns the index where a uniform number falls among cumulative sums, whose last need not be 1.
fn find(sums: &[f64], uniform: f64) -> usize {
    let target = uniform * sums[sums.len() - 1];
    sums.partition_point(|&sum| sum <= target).min(sums.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language() -> Language {
        Language::new(60, 5, 0.8, 0.9)
    }

    /// Tests the first and the last word of a sentence separately. Each of 120 counts is within 4.5 standard deviations, which follow
    /// from the independence of sentences: one false alarm in 1,200 seeds.
    #[test]
    fn words_at_every_position_follow_zipfs_law() {
        let (language, sentences) = (language(), 40_000);
        let text = language.text(0, sentences, 6, 1, Purpose::Measurement);
        for place in [0, 5] {
            let mut counts = vec![0f64; 60];
            text.sentences().for_each(|sentence| counts[sentence[place] as usize] += 1.0);
            let harmonic: f64 = (1..=60).map(|n| 1.0 / f64::from(n)).sum();
            for (rank, count) in (1..).zip(counts) {
                let p = 1.0 / f64::from(rank) / harmonic;
                let (mean, variance) = (p * sentences as f64, p * (1.0 - p) * sentences as f64);
                assert!(
                    (count - mean).abs() < 4.5 * variance.sqrt(),
                    "place {place}, word {rank}: {count}, {mean}"
                );
            }
        }
    }

    #[test]
    fn probabilities_of_a_topic_sum_to_one() {
        let language = language();
        for topic in 0..5 {
            let total: f64 = (0..60).map(|word| language.chance(word, topic)).sum();
            assert!((total - 1.0).abs() < 1e-12, "{total}");
        }
    }

    /// With two words and two topics that never change, the loss can be computed by hand.
    #[test]
    fn the_lowest_loss_is_that_of_the_posterior() {
        let language = Language::new(2, 2, 0.5, 1.0);
        // Frequencies 2/3 and 1/3, topics as likely; in topic 0 word 0 has 2/3 · 1/2 + 1/2 = 5/6, in topic 1 it has 1/3.
        let joint = 2.0 / 3.0 * (5.0 / 6.0f64).powi(2) + 1.0 / 3.0 * (1.0 / 3.0f64).powi(2);
        let found = language.lowest_losses(&Text { words: vec![0, 0], length: 2 })[0];
        assert!((found + (joint / (2.0 / 3.0)).ln()).abs() < 1e-12, "{found}");
        // Without loyalty, or with topics that change at every word, words are independent.
        for (loyalty, stay) in [(0.0, 0.9), (0.8, 0.0)] {
            let language = Language::new(60, 5, loyalty, stay);
            let text = language.text(0, 50, 9, 3, Purpose::Measurement);
            let words = text.sentences().flat_map(|sentence| &sentence[1..]);
            for (least, &word) in language.lowest_losses(&text).into_iter().zip(words) {
                assert!((least + language.frequencies()[word as usize].ln()).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_sentence_depends_only_on_its_number_and_the_seed() {
        let language = language();
        let whole = language.text(0, 7, 4, 9, Purpose::Gradient);
        assert_eq!(language.text(5, 2, 4, 9, Purpose::Gradient).words, whole.words[20..]);
        assert_ne!(language.text(0, 7, 4, 8, Purpose::Gradient), whole);
    }
}
