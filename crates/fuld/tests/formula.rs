//! Formulas: parsing, positions of errors, and the text of formulas and their derivatives.

use crate::differences::{gradient, gradients, same};
use fuld::Potential;
use fuld::potential::{Formula, FormulaError, Problem};

fn formula(text: &str) -> Formula {
    Formula::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the value at (x, y, z, w) = (2, 3, 5, 7).
fn value(text: &str) -> f64 {
    Formula::with_dim(text, 4)
        .unwrap_or_else(|error| panic!("{error}"))
        .value(&[2.0, 3.0, 5.0, 7.0])
}

fn error(text: &str) -> FormulaError {
    Formula::parse(text).err().unwrap_or_else(|| panic!("{text} should not be read"))
}

#[test]
fn precedence() {
    let table = [
        ("x + y*z", 17.0),
        ("(x + y)*z", 25.0),
        ("x - y - z", -6.0),
        ("x - (y - z)", 4.0),
        ("z/y/x", 5.0 / 3.0 / 2.0),
        ("z/(y/x)", 5.0 / 1.5),
        ("z/y*x", 5.0 / 3.0 * 2.0),
        ("x^y^x", 512.0),
        ("(x^y)^x", 64.0),
        ("-x^2", -4.0),
        ("(-x)^2", 4.0),
        ("-x*y", -6.0),
        ("x^-2", 0.25),
        ("x^-x^2", 0.0625),
        ("x^-y*z", 0.625),
        ("2^3^2", 512.0),
        ("-2^2", -4.0),
        ("x*-y", -6.0),
        ("x - -y", 5.0),
        ("--x", 2.0),
        ("-+-x", 2.0),
        ("+x", 2.0),
        ("2*x^2", 8.0),
        ("x^2*2", 8.0),
        ("1e2*x", 200.0),
        ("1.5E+1 + .5 + 2.", 17.5),
        ("e*x", 2.0 * std::f64::consts::E),
        ("2*pi", std::f64::consts::TAU),
        ("sqrt(x*2)^3", 8.0),
        ("abs(-x)*sign(-y)", -2.0),
        ("log(exp(x)) + ln(e^y)", 5.0),
        (" x\t+\n y ", 5.0),
    ];
    for (text, expected) in table {
        assert!(
            (value(text) - expected).abs() <= 4e-16 * expected.abs(),
            "{text}: {}, not {expected}",
            value(text)
        );
    }
}

#[test]
fn functions_have_their_values() {
    type Function = fn(f64) -> f64;
    let table: [(&str, Function); 16] = [
        ("exp", f64::exp),
        ("log", f64::ln),
        ("ln", f64::ln),
        ("log1p", f64::ln_1p),
        ("sqrt", f64::sqrt),
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("tan", f64::tan),
        ("sinh", f64::sinh),
        ("cosh", f64::cosh),
        ("tanh", f64::tanh),
        ("atan", f64::atan),
        ("abs", f64::abs),
        ("logcosh", |x| x.cosh().ln()),
        ("softplus", |x| x.exp().ln_1p()),
        ("sigmoid", |x| 1.0 / (1.0 + (-x).exp())),
    ];
    for (name, function) in table {
        for x in [0.1, 0.9, 3.3] {
            let ours = formula(&format!("{name}(x)")).value(&[x]);
            assert!(
                (ours - function(x)).abs() < 3e-15 * (1.0 + ours.abs()),
                "{name}({x}) = {ours}"
            );
        }
    }
}

#[test]
fn derivatives_are_simplified() {
    let table = [
        ("x^4/4 - x^2/2", "x^3 - x"),
        ("x^4/12", "x^3/3"),
        ("x^6 + x^4 + x^2 + 5", "6*x^5 + 4*x^3 + 2*x"),
        ("log(1+x^2)", "2*x/(1 + x^2)"),
        ("sin(x)^2", "2*sin(x)*cos(x)"),
        ("cos(x)", "-sin(x)"),
        ("exp(-x^2/2)", "-exp(-x^2/2)*x"),
        ("1/x", "-1/x^2"),
        ("x^(1/3)", "x^(-2/3)/3"),
        ("sqrt(x)", "1/(2*sqrt(x))"),
        ("x*x*x", "3*x^2"),
        ("2^x", "0.6931471805599453*2^x"),
        ("x^x", "x*x^(x - 1) + x^x*log(x)"),
        ("e^x", "exp(x)"),
        ("abs(x)", "sign(x)"),
        ("logcosh(x)", "tanh(x)"),
        ("softplus(x)", "sigmoid(x)"),
        ("log(1 + exp(x))", "sigmoid(x)"),
        ("x - x + 3*x/3", "1"),
    ];
    for (text, expected) in table {
        assert_eq!(formula(text).derivative(0).unwrap().to_string(), expected, "{text}");
    }
    let valley = formula("(1-x)^2 + 100*(y-x^2)^2");
    assert_eq!(valley.derivative(0).unwrap().to_string(), "2*(x - 1) + 400*(x^2 - y)*x");
    assert_eq!(valley.derivative(1).unwrap().to_string(), "200*(y - x^2)");
    assert!(valley.derivative(2).is_none());
    assert_eq!(formula("x1*x3").derivative(2).unwrap().to_string(), "x1");
}

#[test]
fn formulas_are_shown_simplified() {
    let table = [
        ("x^4/4-x^2/2", "x^4/4 - x^2/2"),
        ("(1-x)^2 + 100*(y-x^2)^2", "(1 - x)^2 + 100*(y - x^2)^2"),
        ("0*y + 1*x + 0", "x"),
        ("x^1 + x^0", "x + 1"),
        ("2*3*x*4", "24*x"),
        ("x/2/3", "x/6"),
        ("-(1-x)*y", "(x - 1)*y"),
        ("-(x*(1-y))", "-x*(1 - y)"),
        ("x + x", "2*x"),
        ("x*(y*z)", "x*(y*z)"),
        ("(x^2)^3", "x^6"),
        ("1e-7*x + 1e20", "1e-7*x + 1e20"),
        ("x^y^z", "x^(y^z)"),
        ("1/0 + x", "1/0 + x"),
        ("log(0)*x", "log(0)*x"),
        ("x1 + x2", "x1 + x2"),
        ("0.5*x^2", "0.5*x^2"),
        ("(-x)^3", "-x^3"),
    ];
    for (text, expected) in table {
        let shown = formula(text).to_string();
        assert_eq!(shown, expected, "{text}");
        let dim = formula(text).dim();
        assert_eq!(Formula::with_dim(&shown, dim).unwrap().to_string(), expected, "read again");
        assert_eq!(formula(text).source(), text);
    }
}

#[test]
fn errors_name_the_position() {
    let table = [
        ("", 0, "empty"),
        ("   ", 0, "empty"),
        ("2x", 1, "missing before `x`; products are written with *"),
        ("x y", 2, "missing before `y`"),
        ("2(x)", 1, "missing before `(`"),
        ("(x)(y)", 3, "missing before `(`"),
        ("x^2 3", 4, "missing before `3`"),
        ("sin(x)cos(x)", 6, "missing before `cos`"),
        ("2e*x", 1, "missing before `e`"),
        ("xy + 1", 0, "unknown name `xy`: did you mean x*y?"),
        ("x + sine(x)", 4, "unknown name `sine`"),
        ("x + lgo(x)", 4, "unknown name `lgo`"),
        ("x + foobar", 4, "unknown name `foobar`"),
        ("sin x", 4, "needs its argument in parentheses: sin(…)"),
        ("x + exp", 7, "needs its argument"),
        ("(x + 1", 0, "never closed"),
        ("x*(y + (z)", 2, "never closed"),
        ("log(x", 3, "never closed"),
        ("x + 1)", 5, "never opened"),
        (")", 0, "found `)`"),
        ("()", 1, "found `)`"),
        ("x +", 3, "found the end"),
        ("x + * y", 4, "found `*`"),
        ("x ** 2", 3, "`**`; powers are written with ^"),
        ("x $ y", 2, "unexpected character `$`"),
        ("x² + 1", 1, "powers are written with ^"),
        ("x − 1", 2, "the minus sign is -"),
        ("x·y", 1, "products are written with *"),
        ("[x]", 0, "parentheses are round"),
        ("1.2.3*x", 0, "`1.2.3` is not a number"),
        ("x + .", 4, "`.` is not a number"),
        ("1e999*x", 0, "`1e999` is not a number"),
        ("atan(x, y)", 6, "functions take one argument"),
        ("x, y", 1, "unexpected `,`"),
        ("x + x1", 4, "`x1` does not go with the variables before it"),
        ("x2*x1 + y", 8, "`y` does not go"),
        ("x0 + 1", 0, "variables are x1 to x65536"),
        ("x01", 0, "no variable `x01`"),
        ("x99999999999999999999", 0, "variables are x1 to"),
        ("3 + pi", 0, "no variable"),
    ];
    for (text, byte, message) in table {
        let error = error(text);
        assert_eq!(error.byte(), byte, "{error}");
        assert!(error.problem().to_string().contains(message), "{error}");
        assert_eq!(error.formula(), text);
    }
}

#[test]
fn the_caret_is_below_the_character() {
    let wide = error("é + 1");
    assert_eq!((wide.byte(), wide.column()), (0, 0));
    // After an é, byte and character positions differ. Newlines and tabs are replaced.
    let later = Formula::parse("x +\n\u{a0}3y").unwrap_err();
    assert_eq!((later.byte(), later.column()), (7, 6));
    let text = later.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[2]), (3, "        ^"));
    // For a long formula only the part around the error is shown.
    let long = error(&format!("{}2y", "x + ".repeat(5000))).to_string();
    let lines: Vec<&str> = long.lines().collect();
    assert!(long.len() < 400);
    assert_eq!(lines[1].chars().nth(lines[2].chars().count() - 1), Some('y'));
}

#[test]
fn deep_and_long_formulas_do_not_overflow_the_stack() {
    let nested =
        |open: &str, close: &str, n: usize| format!("{}x{}", open.repeat(n), close.repeat(n));
    for (open, close) in
        [("(", ")"), ("sin(", ")"), ("-", ""), ("x^", ""), ("-(x+", ")"), ("2*(1-x^(", "))")]
    {
        let fits = formula(&nested(open, close, 60));
        assert!(
            fits.to_string().len() < 5000
                && fits.derivative(0).unwrap().to_string().len() < 2_000_000
        );
        let deep = error(&nested(open, close, 5000));
        assert!(matches!(deep.problem(), Problem::TooDeep { .. }), "{deep}");
    }
    let unclosed = error(&"(".repeat(60_000));
    assert!(
        matches!(unclosed.problem(), Problem::TooDeep { largest: 200 }) && unclosed.byte() == 200
    );
    assert!(matches!(
        error(&"x+".repeat(40_000)).problem(),
        Problem::TooLong { length: 80_000, .. }
    ));
    // Long chains of operators are deep trees, but no function recurses along them.
    for link in ["sin(x) + cos(x) - ", "x*y*", "1e300*1e300*x/1e300/1e300*", "x+1e308+"] {
        let long = formula(&format!("{}x", link.repeat(65_000 / link.len())));
        assert!(!long.to_string().is_empty());
        assert!(long.derivative(0).is_some());
    }
    let many: Vec<String> = (1..5000).map(|i| format!("x{i}^2")).collect();
    let sum = formula(&many.join(" + "));
    assert_eq!(gradient(&sum, &vec![3.0; 4999]), vec![6.0; 4999]);
}

#[test]
fn dimensions() {
    assert_eq!((formula("y^2").dim(), formula("x7").dim(), formula("w").dim()), (2, 7, 4));
    let wide = Formula::with_dim("x^2", 3).unwrap();
    assert_eq!(gradient(&wide, &[1.0, 2.0, 3.0]), [2.0, 0.0, 0.0]);
    assert_eq!(gradient(&Formula::with_dim("3", 2).unwrap(), &[1.0, 2.0]), [0.0, 0.0]);
    for dim in [0, 1, usize::MAX] {
        assert!(matches!(
            Formula::with_dim("x*y", dim).unwrap_err().problem(),
            Problem::Dimension { .. }
        ));
    }
    assert!(Formula::with_dim("3", 0).is_err());
}

#[test]
fn values_and_gradients_agree_with_each_alone() {
    let f = formula("exp(-x^2)*sin(y)/z + x^2.5*z^-3 + w^70 + 2");
    let mut random = crate::differences::Random(5);
    let points = random.points(4 * 333, 0.2, 2.0);
    let (mut values, mut both, mut slopes) = (vec![0.0; 333], vec![0.0; 333], vec![0.0; 4 * 333]);
    f.values(&points, &mut values);
    f.values_and_gradients(&points, &mut both, &mut slopes);
    assert_eq!((&values, &slopes), (&both, &gradients(&f, &points)));
    assert!(points.chunks(4).zip(&values).all(|(x, &value)| same(f.value(x), value)));
    // Incomplete points and outputs that are too short are skipped.
    f.values(&points[..7], &mut values[..5]);
    f.values_and_gradients(&points, &mut values[..3], &mut slopes[..2]);
    assert!(f.value(&[]).is_nan());
}

#[test]
fn kinks_and_special_values() {
    assert_eq!(gradient(&formula("abs(x)"), &[0.0]), [0.0]);
    assert_eq!(formula("x^2/2").value(&[f64::INFINITY]), f64::INFINITY);
    assert!(formula("log(x)").value(&[-1.0]).is_nan());
    assert_eq!(formula("1/0 + x").value(&[1.0]), f64::INFINITY);
    assert_eq!(formula("log(0)*x").value(&[1.0]), f64::NEG_INFINITY);
    // Odd powers of negative numbers, whole exponents beyond the products, and roots.
    assert_eq!((formula("x^3").value(&[-2.0]), formula("x^101").value(&[-1.0])), (-8.0, -1.0));
    assert_eq!((formula("x^0.5").value(&[9.0]), formula("x^-1.5").value(&[4.0])), (3.0, 0.125));
}

/// Mixtures keep their density and its slope where every exponential underflows, written with
/// `logsumexp` or with `log` and `exp`.
#[test]
fn logarithms_of_sums_of_exponentials_do_not_underflow() {
    let named = "-logsumexp(log(0.3) - (x - 4)^2/2, log(0.7) - (x + 4)^2/2)";
    let plain = "-log(0.3*exp(-(x - 4)^2/2) + 0.7*exp(-(x + 4)^2/2))";
    let halves = "-log((3*exp(-(x - 4)^2/2) + 7*exp(-(x + 4)^2/2))/10)";
    for text in [named, plain, halves] {
        let f = formula(text);
        for x in [-1e4f64, -90.0, -4.0, 0.1, 3.0, 90.0, 1e4] {
            let [a, b] =
                [0.3f64.ln() - (x - 4.0).powi(2) / 2.0, 0.7f64.ln() - (x + 4.0).powi(2) / 2.0];
            let exact = -(a.max(b) + (-(a - b).abs()).exp().ln_1p());
            let weight = 1.0 / (1.0 + (b - a).exp());
            let slope = weight * (x - 4.0) + (1.0 - weight) * (x + 4.0);
            let mut gradient = [0.0];
            f.gradient(&[x], &mut gradient);
            assert!((f.value(&[x]) - exact).abs() < 1e-13 * exact.abs().max(1.0), "{text} at {x}");
            assert!(
                (gradient[0] - slope).abs() < 1e-12 * slope.abs().max(1.0),
                "{text} at {x}: {}",
                gradient[0]
            );
        }
    }
    // The logarithm of another sum, and of a difference, stays what it is.
    assert_eq!(formula("log(1 + x^2)").to_string(), "log(1 + x^2)");
    assert_eq!(formula("log(exp(x) - 1)").to_string(), "log(exp(x) - 1)");
    assert_eq!(formula("logsumexp(x)").to_string(), "x");
    for (text, says) in [("logsumexp", "("), ("logsumexp(x, y", "closed"), ("logsumexp(x,)", "")] {
        let error = text.parse::<Formula>().unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}
