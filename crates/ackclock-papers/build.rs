//! Builds anew when a file comes or goes in the folder that is embedded; changed files are tracked
//! anyway.

fn main() {
    println!("cargo:rerun-if-changed=papers");
}
