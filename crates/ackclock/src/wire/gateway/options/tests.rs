use super::*;

#[test]
fn attachments_and_routes_as_given() {
    let attach = |text: &str| text.parse::<Attach>();
    let addr = |text: &str| text.parse::<Prefix>().expect("a prefix");
    let a = Attach { node: "a".into(), addr: addr("10.0.0.1/16"), netns: None };
    assert_eq!(attach("a=10.0.0.1/16"), Ok(a.clone()));
    assert_eq!(
        attach("a=10.0.0.1/16@left"),
        Ok(Attach { netns: Some("left".into()), ..a.clone() })
    );
    assert_eq!(attach("a=fd00::1/64"), Ok(Attach { addr: addr("fd00::1/64"), ..a }));
    for wrong in ["", "a", "=10.0.0.1/16", "a=10.0.0.1", "a=10.0.0.1/16@", "a=10.0.0.1/33", "a=x/8"]
    {
        assert!(attach(wrong).is_err(), "{wrong}");
    }
    let route = |text: &str| text.parse::<Route>();
    let expected = Route { node: "a".into(), network: IpAddr::from([10, 0, 0, 0]), length: 8 };
    assert_eq!(route("a=10.0.0.0/8"), Ok(expected));
    assert_eq!(route("a=10.0.0.0/33").map_err(|e| e.contains("10.0.0.0/33")), Err(true));
}
