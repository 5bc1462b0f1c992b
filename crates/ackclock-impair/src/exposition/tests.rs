use super::*;

#[test]
fn a_family_is_described_once_and_labels_stand_in_their_order() {
    let mut to = Exposition::plain();
    to.each("proxy", &[("web", 1), ("d\"b", 2)], |to, n| {
        to.each("condition", &[("slow", ())], |to, ()| {
            to.counters("drops_total", "Drops.", "reason", &[("loss", 10 * n), ("queue", *n)]);
        });
    });
    to.gauge("open", "Open.", 3);
    to.seconds("rtt_seconds", "Round trips.", 2, 0.5);
    to.histogram("time_seconds", "Times.", [(0.1, 1), (2.5, 4)].into_iter(), (5, 9.0));
    let text = to.finish();
    let (build, rest) = text.split_at(text.find("# HELP drops").unwrap());
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "# HELP ackclock_build_info 1, with the version of the command.\n\
         # TYPE ackclock_build_info gauge\n\
         ackclock_build_info{{version=\"{version}\"}} 1\n"
    );
    assert_eq!(build, expected);
    assert_eq!(
        rest,
        "\
# HELP drops_total Drops.
# TYPE drops_total counter
drops_total{proxy=\"web\",condition=\"slow\",reason=\"loss\"} 10
drops_total{proxy=\"web\",condition=\"slow\",reason=\"queue\"} 1
drops_total{proxy=\"d\\\"b\",condition=\"slow\",reason=\"loss\"} 20
drops_total{proxy=\"d\\\"b\",condition=\"slow\",reason=\"queue\"} 2
# HELP open Open.
# TYPE open gauge
open 3
# HELP rtt_seconds Round trips.
# TYPE rtt_seconds summary
rtt_seconds_sum 0.5
rtt_seconds_count 2
# HELP time_seconds Times.
# TYPE time_seconds histogram
time_seconds_bucket{le=\"0.1\"} 1
time_seconds_bucket{le=\"2.5\"} 4
time_seconds_bucket{le=\"+Inf\"} 5
time_seconds_sum 9
time_seconds_count 5
"
    );
}
