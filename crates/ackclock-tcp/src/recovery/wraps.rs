//! What mechanisms that wrap another have in common.

/// In the `impl` of a mechanism: `wraps!(self.inner: Regulate; in_flight, on_exit)` says that it
/// wraps the one in that field, a box, and leaves these methods of the trait to it. They are those
/// without a default; the others forward unless the mechanism has its own.
macro_rules! wraps {
    (self.$field:tt: $axis:ident $(; $($method:ident),+)?) => {
        fn inner(&self) -> Option<&dyn $axis> {
            Some(&*self.$field)
        }

        fn inner_mut(&mut self) -> Option<&mut dyn $axis> {
            Some(&mut *self.$field)
        }

        $($($crate::recovery::wraps!(@$axis $method $field);)+)?
    };
    (@Detect on_ack $field:tt) => {
        fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
            self.$field.on_ack(s, a)
        }
    };
    (@Regulate in_flight $field:tt) => {
        fn in_flight(&self, s: &State) -> u64 {
            self.$field.in_flight(s)
        }
    };
    (@Timer on_sample $field:tt) => {
        fn on_sample(&mut self, s: &State, sent: Time) -> Option<Estimates> {
            self.$field.on_sample(s, sent)
        }
    };
    // `rto` and `min_rto`.
    (@Timer $method:ident $field:tt) => {
        fn $method(&self) -> Span {
            self.$field.$method()
        }
    };
    (@Window on_loss $field:tt) => {
        fn on_loss(&mut self, s: &State, flight: u64) -> u64 {
            self.$field.on_loss(s, flight)
        }
    };
    (@Window on_timeout $field:tt) => {
        fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64 {
            self.$field.on_timeout(s, flight, repeated)
        }
    };
    // `on_enter`, `on_ack` and `on_exit` of a regulation, `on_ack` of a window law.
    (@$axis:ident $method:ident $field:tt) => {
        fn $method(&mut self, s: &State, a: &AckSummary) -> u64 {
            self.$field.$method(s, a)
        }
    };
}

pub(crate) use wraps;
