//! HTML pages in one file: no network, light or dark by the reader's setting, readable on a phone.

pub use crate::escape;

use maud::{DOCTYPE, PreEscaped, html};

/// The style of every page.
const STYLE: &str = include_str!("page.css");

/// Returns a page with a title and a body of HTML.
pub fn page(title: &str, body: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (PreEscaped(body)) }
            }
        }
    };
    page.into_string()
}
