//! The report: one page with every figure, the claims about it, what was measured, and the
//! verdicts.

use crate::claim::{Claim, Source, Tally, Verdict};
use crate::exhibit::{Presentation, TextTable};
use fuld_plot::page::page as shell;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use std::path::PathBuf;

/// The finished exhibits, and how they were asked for.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether it was stopped before the end.
    pub interrupted: bool,
    /// The file of the page.
    pub page: PathBuf,
    /// The command that makes it again.
    pub command: String,
    /// The seed.
    pub seed: u64,
    /// How long this run took, in seconds.
    pub seconds: f64,
    /// The exhibits in the order of the report.
    pub exhibits: Vec<Presentation>,
    /// Titles of the exhibits that are not finished.
    pub missing: Vec<String>,
}

/// A claim that does not hold, or holds in part, and the exhibit that tests it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Exception<'a> {
    /// The exhibit's id.
    pub exhibit: &'a str,
    /// The claim.
    #[serde(flatten)]
    pub claim: &'a Claim,
}

impl Report {
    /// Counts the claims of one source by verdict.
    pub fn tally(&self, source: Source) -> Tally {
        Tally::of(source, self.exhibits.iter().flat_map(|exhibit| &exhibit.claims))
    }

    /// Returns the claims of one source that do not hold, then those that hold in part.
    pub fn exceptions(&self, source: Source) -> Vec<Exception<'_>> {
        let mut exceptions = Vec::new();
        for verdict in [Verdict::Fails, Verdict::InPart] {
            for exhibit in &self.exhibits {
                let is_meant = |claim: &&Claim| claim.source == source && claim.verdict == verdict;
                let of_exhibit = exhibit.claims.iter().filter(is_meant);
                exceptions
                    .extend(of_exhibit.map(|claim| Exception { exhibit: &exhibit.id, claim }));
            }
        }
        exceptions
    }
}

const STYLE: &str = include_str!("report.css");
const PAPER: &str = "https://proceedings.mlr.press/v119/simsekli20a.html";

/// Renders the page.
pub(crate) fn page(report: &Report) -> String {
    let body = html! {
        style { (PreEscaped(STYLE)) }
        h1 { "Fractional underdamped Langevin dynamics, reproduced" }
        p.lead {
            "Every figure of " em { "Fractional Underdamped Langevin Dynamics: Retargeting SGD with Momentum under Heavy-Tailed Gradient Noise" }
            " (Şimşekli, Zhu, Teh, Gürbüzbalaban, ICML 2020) from our own runs, and a verdict on each of its claims. \
             Every verdict is computed from the measurements."
        }
        @if !report.missing.is_empty() {
            p.lead { b { "Not finished: " (report.missing.join(", ")) "." } " The command at the end of the page continues." }
        }
        (summary(report, Source::Paper, "The paper's claims"))
        (summary(report, Source::Ours, "Our own claims"))
        nav { ol.overview {
            @for exhibit in &report.exhibits {
                li {
                    a href={ "#" (exhibit.id) } { (exhibit.title) }
                    span.marks { @for claim in &exhibit.claims { (mark(claim.verdict)) } }
                }
            }
        } }
        @for exhibit in &report.exhibits { (section(exhibit)) }
        footer {
            "Made by " code { (report.command) } " with seed " (report.seed) ", fuld " (env!("CARGO_PKG_VERSION"))
            ". Figures, tables and settings of each exhibit are in its folder beside this page. "
            a href=(PAPER) { "The paper" } "."
        }
    };
    shell("Fractional underdamped Langevin dynamics, reproduced", &body.into_string())
}

/// The tally of one source, and its claims that do not hold, each with the reason.
fn summary(report: &Report, source: Source, title: &str) -> Markup {
    let tally = report.tally(source);
    let exceptions = report.exceptions(source);
    html! {
        @if tally.all() > 0 {
            h3 { (title) }
            div.tally {
                div { b { (tally.all()) } "claims" }
                div.holds { b { (tally.hold) } "hold" }
                div.in-part { b { (tally.hold_in_part) } "hold in part" }
                div.fails { b { (tally.do_not_hold) } "do not hold" }
            }
            @if !exceptions.is_empty() {
                ul.exceptions {
                    @for Exception { exhibit, claim } in exceptions {
                        li {
                            (mark(claim.verdict)) " " a href={ "#" (exhibit) } { (claim.says) }
                            @if let Some(why) = &claim.why { " " span.soft { (claim.verdict) ": " (why) } }
                        }
                    }
                }
            }
        }
    }
}

/// The class of a verdict in the style sheet, and a sign that differs in shape as well as in
/// colour.
fn class_and_sign(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Holds => ("holds", "✓"),
        Verdict::InPart => ("in-part", "◐"),
        Verdict::Fails => ("fails", "✗"),
    }
}

fn mark(verdict: Verdict) -> Markup {
    let (class, sign) = class_and_sign(verdict);
    html! { span class={ "mark " (class) } title=(verdict) { (sign) } }
}

fn section(exhibit: &Presentation) -> Markup {
    let id = &exhibit.id;
    html! {
        section id=(id) {
            h2 { (exhibit.title) }
            p { (exhibit.text) }
            @for figure in &exhibit.figures {
                @let name = figure.figure.name();
                figure {
                    (PreEscaped(figure.figure.inline()))
                    figcaption {
                        (figure.caption) " "
                        span.files {
                            a href={ (id) "/" (name) ".svg" } { "SVG" } " " a href={ (id) "/" (name) ".png" } { "PNG" }
                        }
                    }
                }
            }
            @for table in &exhibit.tables { (text_table(table)) }
            @for claim in &exhibit.claims { (claim_box(claim)) }
            p.soft.made {
                "Tables: "
                @for (i, file) in exhibit.files.iter().enumerate() {
                    @if i > 0 { ", " }
                    a href={ (id) "/" (file) } { (file) }
                }
                ". Settings: " a href={ (id) "/settings.toml" } { "settings.toml" } ". Made by " (exhibit.record.made_by()) "."
            }
        }
    }
}

fn text_table(table: &TextTable) -> Markup {
    html! {
        div.scroll { table {
            tr { @for column in &table.columns { th { (column) } } }
            @for row in &table.rows { tr { @for cell in row { td { (cell) } } } }
        } }
    }
}

fn claim_box(claim: &Claim) -> Markup {
    let who = match claim.source {
        Source::Paper => "The paper says",
        Source::Ours => "We say",
    };
    html! {
        div class={ "claim " (class_and_sign(claim.verdict).0) } {
            p.verdict { (mark(claim.verdict)) " " (claim.verdict) }
            dl {
                dt { (who) } dd { (claim.says) }
                dt { "Measured" } dd { (claim.measured) }
                @if let Some(why) = &claim.why { dt { "Why" } dd { (why) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Judgement;
    use crate::exhibit::CaptionedFigure;
    use crate::specification::Record;
    use crate::specification::tests::specification;
    use fuld_plot::{Figure, Hue, Panel};

    fn report() -> Report {
        let line = vec![(0.0, 1.0), (1.0, 2.0)];
        let figure = Figure::new("lines").panel(Panel::new("a < b").line(Hue::Blue, "x", line));
        let judged = |verdict| Judgement::new(verdict, "5 < 4 is false");
        let exhibit = Presentation {
            id: "one".into(),
            title: "One & only".into(),
            text: "Text.".into(),
            figures: vec![CaptionedFigure::new(figure, "Caption.")],
            tables: vec![TextTable::new(["a", "b"], [["<1", "2"].map(String::from)])],
            claims: vec![
                Claim::paper("a", "It holds.", "3 < 4.", judged(Verdict::Holds)),
                Claim::ours("b", "It works.", "5 < 4.", judged(Verdict::Fails)),
            ],
            files: vec!["data.csv".into()],
            record: Record {
                files: Vec::new(),
                fuld: "0.1.0".into(),
                command: "fuld reproduce --only one".into(),
                tables: String::new(),
                specification: specification(),
            },
        };
        Report {
            interrupted: false,
            page: "report.html".into(),
            command: "fuld reproduce --seed 7".into(),
            seed: 7,
            seconds: 3.0,
            exhibits: vec![exhibit],
            missing: Vec::new(),
        }
    }

    #[test]
    fn sources_are_tallied_apart_and_failures_are_explained() {
        let report = report();
        assert_eq!(report.tally(Source::Paper), Tally { hold: 1, ..Tally::default() });
        assert_eq!(report.tally(Source::Ours), Tally { do_not_hold: 1, ..Tally::default() });
        assert!(report.exceptions(Source::Paper).is_empty());
        let text = page(&report);
        let [paper, ours] =
            ["The paper's claims", "Our own claims"].map(|title| text.find(title).unwrap());
        assert!(paper < ours && text[ours..].contains("<b>1</b>do not hold"));
        let overview = text.find("<nav>").unwrap();
        assert!(
            text[ours..overview].contains("It works.")
                && text[ours..overview].contains("5 &lt; 4 is false.")
        );
    }

    #[test]
    fn exhibits_that_are_missing_are_named() {
        assert!(!page(&report()).contains("Not finished"));
        let unfinished = Report { missing: vec!["Figure 3".into()], ..report() };
        assert!(page(&unfinished).contains("Not finished: Figure 3."));
    }

    #[test]
    fn an_exhibit_is_shown_with_what_made_it() {
        let text = page(&report());
        for part in
            ["One &amp; only", "<dt>We say</dt><dd>It works.", "3 &lt; 4.", "<td>&lt;1</td>"]
        {
            assert!(text.contains(part), "{part}");
        }
        assert!(text.contains("one/lines.svg") && text.contains("one/data.csv"));
        assert!(text.contains("Made by fuld 0.1.0, dynamics 2, exhibit version 1, seed 7"));
        // Nothing is loaded from elsewhere.
        assert!(!text.contains("src=\"http") && !text.contains("@import"));
    }
}
