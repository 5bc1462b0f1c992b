//! Keys of a scenario, set by path: `link[1].delay`, or `flow[*].arrivals.poisson` for all
//! elements.

use toml::{Table, Value};

/// Sets the key at `path`. Tables on the way are created, elements of arrays must exist.
///
/// # Errors
/// What of the path is not there.
pub fn set(table: &mut Table, path: &str, value: Value) -> Result<(), String> {
    if let Some((array, _)) = path.split_once("[*]") {
        let Some(Value::Array(items)) = table.get(array) else {
            return Err(format!("there is no `{array}[...]`"));
        };
        return (0..items.len())
            .try_for_each(|i| set(table, &path.replacen('*', &i.to_string(), 1), value.clone()));
    }
    let Some((key, rest)) = split(path) else {
        return Err(format!("`{path}` is not a path such as `link[1].delay`"));
    };
    let (key, index) = key;
    if let Some(index) = index.filter(|_| !table.contains_key(key)) {
        let arrays = table.iter().filter(|(_, value)| value.is_array());
        let known: Vec<String> = arrays.map(|(key, _)| format!("`{key}[...]`")).collect();
        return Err(match known.is_empty() {
            true => format!("there is no `{key}[{index}]`"),
            false => format!("there is no `{key}[{index}]`; there are {}", known.join(", ")),
        });
    }
    let slot = table.entry(key).or_insert_with(|| Value::Table(Table::new()));
    let slot = match index {
        None => slot,
        Some(index) => match slot {
            Value::Array(items) => {
                let count = items.len();
                items
                    .get_mut(index)
                    .ok_or_else(|| format!("there is no `{key}[{index}]`; there are {count}"))?
            }
            _ => return Err(format!("there is no `{key}[{index}]`")),
        },
    };
    match (rest, slot) {
        (None, slot) => {
            *slot = value;
            Ok(())
        }
        (Some(rest), Value::Table(inner)) => set(inner, rest, value),
        (Some(rest), Value::Array(_)) => Err(match split(rest) {
            // `link.0.delay`, as other tools have it.
            Some(((first, None), after)) if first.parse::<usize>().is_ok() => {
                let after = after.map_or(String::new(), |after| format!(".{after}"));
                format!("`{key}` is a list: `{key}[{first}]{after}`")
            }
            _ => format!("`{key}` is a list: `{key}[0].{rest}`, or `{key}[*].{rest}` for all"),
        }),
        (Some(_), _) => Err(format!("`{key}` is not a table")),
    }
}

/// Whether two paths name a key in common: `link[*].rate` and `link[1]` do.
pub fn overlap(one: &str, other: &str) -> bool {
    steps(one).zip(steps(other)).all(|(a, b)| a == b || a == "*" || b == "*")
}

/// Whether this is the key of a flow's strategy, or of all of them.
pub fn is_strategy_of_flow(path: &str) -> bool {
    path.starts_with("flow[") && path.ends_with("].strategy")
}

fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|step| !step.is_empty())
}

type First<'a> = (&'a str, Option<usize>);

/// The first key of a path, its index, and the rest.
fn split(path: &str) -> Option<(First<'_>, Option<&str>)> {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let (key, index) = match first.split_once('[') {
        Some((key, index)) => {
            let digits = index.strip_suffix(']')?;
            // `[00]` would be another way to write `[0]`.
            let index = digits.parse().ok().filter(|n: &usize| n.to_string() == digits)?;
            (key, Some(index))
        }
        None => (first, None),
    };
    (!key.is_empty()).then_some(((key, index), rest))
}

#[cfg(test)]
mod tests;
