use crate::scenario::Scenario;
use crate::scenario::network::build_distribution;
use crate::{Distribution, Law, MixPart};
use ackclock_tcp::Registry;

/// A scenario whose flow draws its size from `distribution`.
fn scenario(distribution: &str) -> String {
    format!(
        "duration = \"10s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1mbit\"\ndelay = \
         \"10ms\"\n\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\nsource = {{ draw = {distribution} }}\n"
    )
}

fn built(distribution: &str) -> Distribution {
    let scenario =
        Scenario::from_toml(&scenario(distribution), &Registry::default()).expect(distribution);
    let crate::scenario::Source::Draw(drawn) = &scenario.flows[0].source else {
        panic!("{distribution}")
    };
    assert_eq!(
        Scenario::from_toml(&scenario.to_toml().unwrap(), &Registry::default()).unwrap(),
        scenario
    );
    build_distribution(drawn)
}

fn law(law: Law) -> Distribution {
    Distribution { law, max: None }
}

#[test]
fn each_law_is_read() {
    assert_eq!(built("{ fixed = \"10kb\" }"), law(Law::Fixed(10_240)));
    assert_eq!(built("{ exponential = { mean = \"512kb\" } }"), law(Law::Exponential(524_288.0)));
    let lognormal = || Law::Lognormal { mean: 7247.0, sigma: 1.0 };
    let pareto = || Law::Pareto { mean: 10_558.0, shape: 1.2 };
    assert_eq!(built("{ lognormal = { mean = \"7247b\", sigma = 1 } }"), law(lognormal()));
    assert_eq!(
        built("{ pareto = { mean = 10558, shape = 1.2 }, max = \"1mb\" }"),
        Distribution { law: pareto(), max: Some(1 << 20) }
    );
    assert_eq!(
        built("{ cdf = [[\"1kb\", \"20%\"], [5000, 0.7], [\"1mb\", 1]] }"),
        law(Law::Points(vec![(1024.0, 0.2), (5000.0, 0.7), (1_048_576.0, 1.0)]))
    );
    let mix = "{ mix = [{ share = \"88%\", lognormal = { mean = 7247, sigma = 1.0 } }, \
               { share = 0.12, pareto = { mean = 10558, shape = 1.2 }, max = 9000 }] }";
    let tail = Distribution { law: pareto(), max: Some(9000) };
    assert_eq!(
        built(mix),
        law(Law::Mix(vec![
            MixPart { share: 0.88, distribution: law(lognormal()) },
            MixPart { share: 0.12, distribution: tail },
        ]))
    );
}

#[test]
fn what_makes_no_sense_is_named_with_its_key() {
    for (distribution, message) in [
        ("{}", "draw: which distribution? For example `exponential = { mean = \"512kb\" }`"),
        (
            "{ max = 5 }",
            "draw: which distribution? For example `exponential = { mean = \"512kb\" }`",
        ),
        (
            "{ fixed = 1, exponential = { mean = 5 } }",
            "draw: either `fixed` or `exponential`, not both",
        ),
        ("{ fixed = 0 }", "draw.fixed: at least 1 byte"),
        ("{ fixed = 1, max = 0 }", "draw.max: at least 1 byte"),
        ("{ exponential = { mean = \"0kb\" } }", "draw.exponential.mean: at least 1 byte"),
        ("{ exponential = {} }", "draw.exponential: the key `mean` is missing"),
        (
            "{ lognormal = { mean = 5, sigma = -1.0 } }",
            "draw.lognormal.sigma: the standard deviation of a logarithm is 0 to 10 here",
        ),
        (
            "{ pareto = { mean = 5, shape = 1.0 } }",
            "draw.pareto.shape: a shape is above 1, where there is a mean, and at most 1000",
        ),
        (
            "{ pareto = { mean = 5, shape = nan } }",
            "draw.pareto.shape: a shape is above 1, where there is a mean, and at most 1000",
        ),
        ("{ fixed = 1, share = 1 }", "draw.share: a share is for the parts of a `mix`"),
        ("{ cdf = [] }", "draw.cdf: the last point has the largest size and 1: for example"),
        ("{ cdf = [[10, 0.5], [20, 0.9]] }", "draw.cdf: the last point has the largest size and 1"),
        ("{ cdf = [[10, 0.5], [10, 1]] }", "draw.cdf[1]: sizes rise from point to point"),
        ("{ cdf = [[10, 0.5], [20, 0.4], [30, 1]] }", "draw.cdf[1]: sizes rise from point"),
        ("{ cdf = [[10, 2]] }", "draw.cdf"),
        ("{ cdf = [[10, 1]], fixed = 5 }", "draw: either `fixed` or `cdf`, not both"),
        ("{ mix = [] }", "draw.mix: the shares add up to 0, not to 1"),
        (
            "{ mix = [{ fixed = 1 }] }",
            "draw.mix[0]: which `share` of the mix is this? For example `share = \"12%\"`",
        ),
        (
            "{ mix = [{ share = \"50%\", fixed = 1 }, { share = \"25%\", fixed = 2 }] }",
            "draw.mix: the shares add up to 0.75, not to 1",
        ),
        (
            "{ mix = [{ share = 0.3, fixed = 1 }, { share = 0.6, fixed = 2 }] }",
            "draw.mix: the shares add up to 0.9, not to 1",
        ),
        ("{ mix = [{ share = 1, fixed = 0 }] }", "draw.mix[0].fixed: at least 1 byte"),
        (
            "{ exponential = { mean = \"5ms\" } }",
            "draw.exponential.mean: `5ms` is not a size: there is no unit `ms`",
        ),
        ("{ weibull = {} }", "draw.weibull: there is no key `weibull` here"),
    ] {
        let error = Scenario::from_toml(&scenario(distribution), &Registry::default())
            .expect_err(distribution)
            .to_string();
        let expected = format!("10: flow[0].source.{message}");
        assert!(error.starts_with(&expected), "{distribution}: {error}\nexpected {expected}");
    }
}

#[test]
fn a_mix_of_many_decimal_shares_adds_up() {
    let parts = ["{ share = 0.1, fixed = 1 }"; 10].join(", ");
    built(&format!("{{ mix = [{parts}] }}"));
}
