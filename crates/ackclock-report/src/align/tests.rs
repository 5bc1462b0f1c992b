use super::*;

fn table(rows: &[&[&str]]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|cell| cell.to_string()).collect()).collect()
}

#[test]
fn numbers_that_do_not_fit_are_left_out_by_column_and_named() {
    let rows = table(&[&["strategy", "runs", "goodput"], &["sack", "10", "1.000mbit"]]);
    let all = "strategy  runs    goodput\nsack        10  1.000mbit\n";
    for enough in [None, Some(25), Some(200)] {
        assert_eq!(align_within(&rows, Align::Right, enough), all);
    }
    assert_eq!(
        align_within(&rows, Align::Right, Some(24)),
        "strategy  runs\nsack        10\n(terminal of 24 columns: goodput left out)\n"
    );
    assert_eq!(
        align_within(&rows, Align::Right, Some(3)),
        "strategy\nsack\n(terminal of 3 columns: runs, goodput left out)\n"
    );
    assert_eq!(align_within(&[], Align::Right, Some(3)), "");
}

#[test]
fn text_is_cut_where_some_of_it_fits() {
    let rows = table(&[
        &["name", "what it does", "file"],
        &["er", "lowers the threshold of all", "er.rs"],
    ]);
    assert_eq!(
        align_within(&rows, Align::Left, Some(26)),
        "name  what it does\ner    lowers the threshol…\n\
         (terminal of 26 columns: what it does is cut; file left out)\n"
    );
    assert_eq!(
        align_within(&rows, Align::Left, Some(25)),
        "name\ner\n(terminal of 25 columns: what it does, file left out)\n"
    );
    assert_eq!(
        align_within(&rows, Align::Left, Some(38)),
        "name  what it does\ner    lowers the threshold of all\n\
         (terminal of 38 columns: file left out)\n"
    );
}

#[test]
fn cells_are_printable() {
    let rows = table(&[&["name", "n"], &["a\u{1b}[1m\nb", "1"]]);
    let shown = "name           n\na\\u{1b}[1m\\nb  1\n";
    assert_eq!(align(&rows, Align::Right), shown);
}
