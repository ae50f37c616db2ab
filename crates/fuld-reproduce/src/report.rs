//! The report: one page with every figure, what the paper says of it, what was measured, and a verdict.

use super::claim::{Claim, Verdict};
use super::exhibit::{Exhibit, Table};
use fuld_plot::page::{escape, page};
use std::fmt::Write;

/// What is told once, about the whole.
pub struct Facts {
    /// The seed of everything.
    pub seed: u64,
    /// The command that makes it again.
    pub command: String,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// How many processors there were.
    pub threads: usize,
}

const STYLE: &str = include_str!("report.css");

/// The page.
pub fn report(exhibits: &[&Exhibit], facts: &Facts) -> String {
    let mut body = format!("<style>\n{STYLE}</style>\n");
    head(&mut body, exhibits, facts);
    overview(&mut body, exhibits);
    exhibits.iter().for_each(|exhibit| section(&mut body, exhibit));
    let _ = writeln!(
        body,
        "<footer>Made by <code>{}</code> with seed {} on {} threads in {:.0} seconds. Pictures, data and settings of each figure lie \
         beside this page. fuld {}, <a href=\"https://proceedings.mlr.press/v119/simsekli20a.html\">the paper</a>.</footer>",
        escape(&facts.command),
        facts.seed,
        facts.threads,
        facts.seconds,
        env!("CARGO_PKG_VERSION"),
    );
    page("Fractional underdamped Langevin dynamics, reproduced", &body)
}

fn claims<'a>(exhibits: &'a [&Exhibit]) -> impl Iterator<Item = &'a Claim> {
    exhibits.iter().flat_map(|exhibit| &exhibit.claims)
}

fn head(body: &mut String, exhibits: &[&Exhibit], facts: &Facts) {
    let count = |verdict: Verdict| claims(exhibits).filter(|claim| claim.verdict == verdict).count();
    let (holds, part, fails) = (count(Verdict::Holds), count(Verdict::InPart), count(Verdict::Fails));
    let all = holds + part + fails;
    let _ = write!(
        body,
        "<h1>Fractional underdamped Langevin dynamics, reproduced</h1>\n\
         <p class=\"lead\">Every figure of <em>Fractional Underdamped Langevin Dynamics: Retargeting SGD with Momentum under Heavy-Tailed Gradient \
         Noise</em> (Şimşekli, Zhu, Teh, Gürbüzbalaban, ICML 2020) from our own runs, and what became of its claims. Each verdict is computed from \
         what was measured.</p>\n\
         <div class=\"tally\"><div><b>{all}</b>claims</div><div class=\"holds\"><b>{holds}</b>hold</div>\
         <div class=\"in-part\"><b>{part}</b>hold in part</div><div class=\"fails\"><b>{fails}</b>do not hold</div>\
         <div><b>{:.0} s</b>to make</div></div>\n",
        facts.seconds
    );
}

fn overview(body: &mut String, exhibits: &[&Exhibit]) {
    body.push_str("<nav><ol class=\"overview\">\n");
    for exhibit in exhibits {
        let marks: String = exhibit.claims.iter().map(|claim| mark(claim.verdict)).collect();
        let _ = writeln!(
            body,
            "<li><a href=\"#{}\">{}</a><span class=\"marks\">{marks}</span></li>",
            exhibit.id,
            escape(&exhibit.title)
        );
    }
    body.push_str("</ol></nav>\n");
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::InPart => "in-part",
        Verdict::Fails => "fails",
    }
}

/// A sign that differs in form as well as in colour.
fn mark(verdict: Verdict) -> String {
    let sign = match verdict {
        Verdict::Holds => "✓",
        Verdict::InPart => "◐",
        Verdict::Fails => "✗",
    };
    format!("<span class=\"{}\" title=\"{verdict}\">{sign}</span>", class(verdict))
}

fn section(body: &mut String, exhibit: &Exhibit) {
    let id = exhibit.id;
    let _ = writeln!(
        body,
        "<section id=\"{id}\">\n<h2>{}</h2>\n<p>{}</p>",
        escape(&exhibit.title),
        escape(&exhibit.text)
    );
    for (figure, caption) in &exhibit.figures {
        let name = figure.name();
        let _ = writeln!(
            body,
            "<figure>\n{}<figcaption>{} <span class=\"files\"><a href=\"{id}/{name}.svg\">SVG</a> <a href=\"{id}/{name}.png\">PNG</a></span>\
             </figcaption>\n</figure>",
            figure.inline(),
            escape(caption)
        );
    }
    exhibit.tables.iter().for_each(|table| self::table(body, table));
    exhibit.claims.iter().for_each(|claim| self::claim(body, claim));
    let files: Vec<String> =
        exhibit.data.iter().map(|table| format!("<a href=\"{id}/{}\">{0}</a>", table.file())).collect();
    let _ = writeln!(
        body,
        "<p class=\"soft\">Data: {}. Settings: <a href=\"{id}/settings.toml\">settings.toml</a>.</p>\n</section>",
        files.join(", ")
    );
}

fn table(body: &mut String, table: &Table) {
    let cells = |tag: &str, row: &[String]| -> String {
        row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
    };
    let _ = writeln!(body, "<div class=\"scroll\"><table>\n<tr>{}</tr>", cells("th", table.columns()));
    for row in table.rows() {
        let _ = writeln!(body, "<tr>{}</tr>", cells("td", row));
    }
    body.push_str("</table></div>\n");
}

fn claim(body: &mut String, claim: &Claim) {
    let Claim { says, measured, verdict, ours } = claim;
    let who = if *ours { "We say" } else { "The paper says" };
    let _ = writeln!(
        body,
        "<div class=\"claim {}\"><p class=\"verdict\">{} {verdict}</p><dl><dt>{who}</dt><dd>{}</dd><dt>Measured</dt><dd>{}</dd></dl></div>",
        class(*verdict),
        mark(*verdict),
        escape(says),
        escape(measured)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuld_plot::{Figure, Hue, Panel};

    fn exhibit(verdict: Verdict) -> Exhibit {
        let figure = Figure::new("lines").panel(Panel::new("a < b").line(
            Hue::Blue,
            "x",
            vec![(0.0, 1.0), (1.0, 2.0)],
        ));
        Exhibit {
            id: "one",
            title: "One & only".into(),
            text: "Text.".into(),
            figures: vec![(figure, "Caption.".into())],
            data: vec![Table::new("the data", &["x"])],
            tables: Vec::new(),
            settings: toml::Table::new(),
            claims: vec![Claim::ours("It works.", "3 < 4.", verdict)],
        }
    }

    #[test]
    fn verdicts_are_counted_and_told() {
        let facts = Facts { seed: 7, command: "fuld reproduce --seed 7".into(), seconds: 3.0, threads: 2 };
        let text = report(&[&exhibit(Verdict::Fails)], &facts);
        assert!(text.contains("<b>1</b>do not hold") && text.contains("✗</span> does not hold"));
        assert!(
            text.contains("One &amp; only")
                && text.contains("<dt>We say</dt><dd>It works.")
                && text.contains("3 &lt; 4.")
        );
        assert!(text.contains("one/lines.svg") && text.contains("one/the-data.csv"));
        // Nothing comes from elsewhere.
        assert!(!text.contains("src=\"http") && !text.contains("@import"));
    }
}
