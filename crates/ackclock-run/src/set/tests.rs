use super::*;

fn after(path: &str) -> Result<String, String> {
    let mut table: Table = "a = 1\nlink = [{ rate = 1 }, { rate = 2 }]".parse().unwrap();
    set(&mut table, path, Value::Integer(7)).map(|()| Value::Table(table).to_string())
}

#[test]
fn keys_are_set_in_tables_and_arrays_and_missing_tables_are_made() {
    for (path, expected) in [
        ("a", "{ a = 7, link = [{ rate = 1 }, { rate = 2 }] }"),
        ("link[1].rate", "{ a = 1, link = [{ rate = 1 }, { rate = 7 }] }"),
        ("link[*].rate", "{ a = 1, link = [{ rate = 7 }, { rate = 7 }] }"),
        ("tcp.mss", "{ a = 1, link = [{ rate = 1 }, { rate = 2 }], tcp = { mss = 7 } }"),
    ] {
        assert_eq!(after(path).as_deref(), Ok(expected), "{path}");
    }
}

#[test]
fn what_of_a_path_is_not_there_is_an_error() {
    for (path, expected) in [
        ("link[2].rate", "there is no `link[2]`; there are 2"),
        ("node[*].rate", "there is no `node[...]`"),
        ("a[0]", "there is no `a[0]`"),
        ("a.b", "`a` is not a table"),
        ("link.rate", "`link` is a list: `link[0].rate`, or `link[*].rate` for all"),
        ("link.1.rate", "`link` is a list: `link[1].rate`"),
        ("link.1", "`link` is a list: `link[1]`"),
        ("link[00].rate", "`link[00].rate` is not a path such as `link[1].delay`"),
        ("link[+1].rate", "`link[+1].rate` is not a path such as `link[1].delay`"),
        ("link[x].rate", "`link[x].rate` is not a path such as `link[1].delay`"),
    ] {
        assert_eq!(after(path), Err(expected.into()), "{path}");
    }
}

#[test]
fn paths_overlap_where_one_sets_what_the_other_sets() {
    for (one, other, expected) in [
        ("link[1].delay", "link[1].delay", true),
        ("link[1].delay", "link[*].delay", true),
        ("link[1].delay", "link[0].delay", false),
        ("link[1].delay", "link[1].rate", false),
        ("tcp", "tcp.mss", true),
        ("tcp.mss", "tcp.mss_of_peer", false),
        ("flow[*].tcp.mss", "flow[12].tcp", true),
    ] {
        assert_eq!(overlap(one, other), expected, "{one} and {other}");
        assert_eq!(overlap(other, one), expected, "{other} and {one}");
    }
}
