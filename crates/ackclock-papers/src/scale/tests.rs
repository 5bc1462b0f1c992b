use super::*;

fn scaled(labels: &[&str]) -> Option<(String, Vec<f64>)> {
    let values = labels.iter().map(|label| (*label).into()).collect();
    let axis = Axis {
        name: "x".into(),
        key: "link[0].rate".into(),
        values,
        labels: Vec::new(),
        quick: Vec::new(),
    };
    let scale = Scale::of(&[axis], "x")?;
    let numbers = labels.iter().map(|label| scale.number(label).unwrap()).collect();
    Some((scale.unit, numbers))
}

#[test]
fn labels_of_one_unit_are_numbers_as_written_and_others_in_the_base_unit() {
    for (labels, unit, numbers) in [
        (&["20", "5e-3", "-1"][..], "", &[20.0, 0.005, -1.0][..]),
        (&["20ms", "0.5 ms"], "ms", &[20.0, 0.5]),
        (&["0.1 BDP", "4 BDP"], "BDP", &[0.1, 4.0]),
        (&["1 flow", "2 flows"], "flows", &[1.0, 2.0]),
        (&["0.2s", "20ms", "1s"], "s", &[0.2, 0.02, 1.0]),
        (&["0", "20ms"], "s", &[0.0, 0.02]),
        (&["500kbit", "1mbit", "5mbit"], "bit/s", &[5e5, 1e6, 5e6]),
        (&["1000", "64kb"], "bytes", &[1000.0, 65536.0]),
        (&["0.01", "5%"], "", &[0.01, 0.05]),
    ] {
        assert_eq!(scaled(labels), Some((unit.into(), numbers.to_vec())), "{labels:?}");
    }
    for labels in [&["near", "far"][..], &["1mbit", "10ms"], &["4 BDP", "1 packet"], &["inf"]] {
        assert_eq!(scaled(labels), None, "{labels:?}");
    }
}
