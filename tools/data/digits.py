"""The handwritten digits that the program carries, crates/fuld-train/src/data/digits/digits.bin.

Source: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998,
doi:10.24432/C50P49, licence CC BY 4.0; the 1,797 images that scikit-learn carries (the test part of the original).
The values are unchanged and in the original order.  Each image is a record of 65 bytes: its label, then 8 rows of 8
pixels, each 0 to 16.

    pip install -r tools/data/requirements.txt
    python tools/data/digits.py > crates/fuld-train/src/data/digits/digits.bin
"""

import sys

from sklearn.datasets import load_digits


def main():
    digits = load_digits()
    for pixels, label in zip(digits.data, digits.target, strict=True):
        sys.stdout.buffer.write(bytes([label, *map(int, pixels)]))


if __name__ == "__main__":
    main()
