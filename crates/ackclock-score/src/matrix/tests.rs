use super::*;

#[test]
fn precision_and_recall() {
    let mut matrix = Matrix::new(&["a", "b"], &["a", "b", "unknown"]);
    for (truth, found, times) in
        [("a", "a", 6), ("a", "b", 1), ("a", "unknown", 1), ("b", "a", 2), ("b", "b", 10)]
    {
        (0..times).for_each(|_| matrix.add(truth, found));
    }
    assert_eq!((matrix.precision("a"), matrix.recall("a")), (Some(75.0), Some(75.0)));
    assert_eq!((matrix.precision("unknown"), matrix.recall("unknown")), (Some(0.0), None));
    assert_eq!((matrix.right(), matrix.all()), (16, 20));
    let expected = "\
x           a     b  unknown  found %
a           6     1        1     75.0
b           2    10        .     83.3
right %  75.0  90.9              80.0
";
    assert_eq!(matrix.table("x"), expected);
}
