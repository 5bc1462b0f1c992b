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
        "strategy  runs\nsack        10\n(terminal of 24 columns:\ngoodput left out)\n"
    );
    assert_eq!(
        align_within(&rows, Align::Right, Some(3)),
        "strategy\nsack\n(terminal\nof\n3\ncolumns:\nruns,\ngoodput\nleft\nout)\n"
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
         (terminal of 26 columns:\nwhat it does is cut; file\nleft out)\n"
    );
    assert_eq!(
        align_within(&rows, Align::Left, Some(25)),
        "name\ner\n(terminal of 25 columns:\nwhat it does, file left\nout)\n"
    );
    assert_eq!(
        align_within(&rows, Align::Left, Some(38)),
        "name  what it does\ner    lowers the threshold of all\n\
         (terminal of 38 columns: file left\nout)\n"
    );
}

/// What is the same in all rows goes first and is told; then counts, then results, and names last.
#[test]
fn results_stay_longer_than_what_is_the_same_in_all_rows_and_than_counts() {
    let rows = table(&[
        &["flow", "strategy", "seed", "sent", "drops", "fast", "goodput"],
        &["a", "reno", "1", "103", "3", "2", "1mbit"],
        &["b", "sack", "1", "103", "3", "1", "2mbit"],
    ]);
    let within = |width| align_results(&rows, 2, &["goodput"], Some(width));
    let whole = align(&rows, Align::Right);
    assert_eq!((align_results(&rows, 2, &["goodput"], None), within(50)), (whole.clone(), whole));
    assert_eq!(
        within(47),
        "flow  strategy  sent  drops  fast  goodput\n\
         a         reno   103      3     2    1mbit\n\
         b         sack   103      3     1    2mbit\n\
         (terminal of 47 columns: in all rows seed 1)\n"
    );
    assert_eq!(
        within(28),
        "flow  strategy  goodput\n\
         a         reno    1mbit\n\
         b         sack    2mbit\n\
         (terminal of 28 columns:\nfast left out; in all rows\nseed 1, sent 103, drops 3)\n"
    );
    let lines = |width| within(width).lines().take(2).map(String::from).collect::<Vec<_>>();
    assert_eq!(lines(22), ["flow  strategy", "a         reno"]);
    assert_eq!(lines(9), ["flow", "a"]);
    // Of one row its names alone are, and a row may be short.
    let one = table(&[&["x", "seed", "goodput"], &["a", "1"]]);
    assert_eq!(
        align_results(&one, 1, &["goodput"], Some(10)),
        "x  goodput\na\n(terminal\nof 10\ncolumns:\nseed left\nout)\n"
    );
    assert_eq!(
        align_results(&one, 2, &["goodput"], Some(10)),
        "x  goodput\na\n(terminal\nof 10\ncolumns:\nseed 1)\n"
    );
    assert_eq!(align_results(&[], 1, &[], Some(3)), "");
    // Without a row nothing has a value.
    assert_eq!(
        align_results(&one[..1], 2, &["goodput"], Some(10)),
        "x  seed\n(terminal\nof 10\ncolumns:\ngoodput\nleft out)\n"
    );
}

#[test]
fn prose_is_broken_between_words() {
    assert_eq!(wrap("one two three\n", None), "one two three\n");
    assert_eq!(wrap("one two three\nfour\n", Some(7)), "one two\nthree\nfour\n");
    assert_eq!(wrap("one twothreefour five", Some(5)), "one\ntwothreefour\nfive");
    assert_eq!(wrap("  as it is\n\n", Some(10)), "  as it is\n\n");
}

#[test]
fn cells_are_printable() {
    let rows = table(&[&["name", "n"], &["a\u{1b}[1m\nb", "1"]]);
    let shown = "name           n\na\\u{1b}[1m\\nb  1\n";
    assert_eq!(align(&rows, Align::Right), shown);
}

#[test]
fn prose_beside_a_label_stands_below_its_first_line() {
    let of = |width| hanging("source  ", "RFC 8985 section 7.3, as Linux has it", width);
    assert_eq!(of(None), "source  RFC 8985 section 7.3, as Linux has it");
    assert_eq!(of(Some(30)), "source  RFC 8985 section 7.3,\n        as Linux has it");
    // Twenty columns are left to it at the least.
    assert_eq!(of(Some(9)), "source  RFC 8985 section\n        7.3, as Linux has it");
}
