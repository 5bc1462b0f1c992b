use super::{DeviceDrops, drops};

#[test]
fn drops_are_read_from_the_kernels_table() {
    let text = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    9    0     0          0         0      100       1    0    9    0     0       0          0
 tun10:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
  tun1: 4294967296       1    2    3    0     0          0         0      140       2    0    7    0     0       0          0
";
    assert_eq!(drops(text, "tun1"), Some(DeviceDrops { to_us: 7, from_us: 3 }));
    assert_eq!(drops(text, "tun10"), Some(DeviceDrops { to_us: 12, from_us: 4 }));
    assert_eq!(drops(text, "tun"), None);
}
