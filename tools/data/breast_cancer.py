"""The data of the logistic regression, crates/fuld/src/potential/data/breast_cancer.csv.

Source: W. Wolberg, O. Mangasarian, N. Street and W. Street, "Breast Cancer Wisconsin (Diagnostic)", UCI Machine
Learning Repository, 1995, doi:10.24432/C5DW2B, licence CC BY 4.0; the copy that scikit-learn carries.  The numbers
are unchanged; zeros that say nothing are left out.

    pip install -r tools/data/requirements.txt
    python tools/data/breast_cancer.py > crates/fuld/src/potential/data/breast_cancer.csv
"""

from sklearn.datasets import load_breast_cancer


def short(value):
    """The shortest decimal of a double: 1001.0 as 1001, 0.1184 as .1184."""
    text = repr(float(value))
    return text.removesuffix(".0") if text.endswith(".0") else text.removeprefix("0")


def main():
    table = load_breast_cancer()
    print("# Breast Cancer Wisconsin (Diagnostic): Wolberg, Mangasarian, Street and Street, 1995.")
    print(
        "# UCI Machine Learning Repository, doi:10.24432/C5DW2B, CC BY 4.0. Written by tools/data/breast_cancer.py."
    )
    print(
        "# 1 for malignant, then 30 features of the cell nuclei: means, standard errors, worst values."
    )
    for row, target in zip(table.data, table.target, strict=True):
        malignant = int(table.target_names[target] == "malignant")
        print(malignant, *map(short, row), sep=",")


if __name__ == "__main__":
    main()
