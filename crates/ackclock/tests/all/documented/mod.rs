//! That the guide has every key of what runs as root only. docs/reference.py asks the same of what
//! runs without.

use serde_json::Value;

/// Fails if `docs/keys.toml` has no meaning for a key of these documents.
pub fn assert_documented<'a>(section: &str, documents: impl IntoIterator<Item = &'a Value>) {
    let text = include_str!("../../../../../docs/keys.toml");
    let begin = text.find(&format!("\n[{section}]\n")).expect("no such section");
    let lines = text[begin..].lines().skip(2).take_while(|line| !line.starts_with('['));
    let paths: Vec<&str> =
        lines.filter_map(|line| line.strip_prefix('"')?.split_once("\" = ")).map(|l| l.0).collect();
    documents.into_iter().for_each(|document| assert_all(&paths, "", document));
}

fn assert_all(paths: &[&str], at: &str, value: &Value) {
    match value {
        Value::Object(keys) => {
            for (key, inner) in keys {
                let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                if paths.contains(&&*format!("{at}.*")) {
                    continue;
                }
                assert!(paths.contains(&&*path), "docs/keys.toml has no {path}");
                assert_all(paths, &path, inner);
            }
        }
        Value::Array(all) => all.iter().for_each(|one| assert_all(paths, &format!("{at}[]"), one)),
        _ => {}
    }
}
