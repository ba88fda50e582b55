//! The head of a page, whose policy permits its own styles and scripts only.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html as markup};
use sha2::{Digest, Sha256};
use yamba_record::direction::without_directions;

/// The head. The page contains `styles` here and `scripts` elsewhere.
pub fn preamble(title: &str, styles: &[&str], scripts: &[&str]) -> Markup {
    let permitted = |texts: &[&str]| match texts {
        [] => " 'none'".to_owned(),
        texts => texts.iter().map(|text| format!(" {}", hash(text))).collect(),
    };
    let policy = format!(
        "default-src 'none'; style-src{}; script-src{}; img-src data:; base-uri 'none'; form-action 'none'",
        permitted(styles),
        permitted(scripts)
    );
    markup! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { "Yamba: " (title) }
            @for style in styles { style { (PreEscaped(style)) } }
        }
    }
}

/// The text of a page. Names cannot change the direction in which it reads.
pub fn finished(page: Markup) -> String {
    without_directions(&page.into_string())
}

/// The hash by which a Content-Security-Policy permits a script or a style.
pub(super) fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}
