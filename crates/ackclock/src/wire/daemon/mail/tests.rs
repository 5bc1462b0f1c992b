use super::*;

#[test]
fn everybody_answers_in_order_but_those_that_are_gone() {
    let (posts, boxes): (Vec<Post<u32>>, Vec<_>) =
        (0..3).map(|_| mailbox(Bell::new().unwrap())).unzip();
    let threads: Vec<_> = (0_u32..)
        .zip(boxes)
        .filter(|(n, _)| *n != 1)
        .map(|(n, mut mail): (u32, Mailbox<u32>)| {
            std::thread::spawn(move || {
                let mut own = 10 * n;
                std::thread::sleep(std::time::Duration::from_millis(u64::from(20 - own)));
                while own < 100 {
                    for errand in mail.take() {
                        errand(&mut own);
                    }
                }
            })
        })
        .collect();
    assert_eq!(ask(&posts, |own| *own), [0, 20]);
    ask(&posts, |own| *own = 100);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(ask(&posts, |own| *own), Vec::<u32>::new());
}

#[test]
fn packets_that_find_no_room_are_lost() {
    let (post, mut mail) = mailbox(Bell::new().unwrap());
    (0..ROOM + 1).for_each(|_| post.try_leave(Box::new(|count: &mut usize| *count += 1)));
    let mut count = 0;
    mail.take().into_iter().for_each(|errand| errand(&mut count));
    assert_eq!((count, mail.take().len()), (ROOM, 0));
}
