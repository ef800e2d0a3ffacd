//! What a person at a terminal sees.

use crate::support::{CTRL_C, ENTER, FakeCluster, Terminal, file, klamm, part, shell_status};

const SIZE: (u16, u16) = (140, 30);
const QUESTION: &str = "Elect leaders all the same? [y/N] ";

/// Two partitions that an unclean election is for, and one that a preferred one is for.
async fn cluster() -> FakeCluster {
    let lost = vec![part(-1, &[3, 2], &[3]), part(-1, &[3, 2], &[3])];
    let moved = vec![part(2, &[1, 2], &[1, 2]); 3];
    FakeCluster::start(&[1, 2], &[("lost", lost), ("moved", moved)]).await
}

fn unclean(cluster: &FakeCluster) -> String {
    let flag = cluster.flag();
    format!("elect {flag} --election-type unclean --all-topic-partitions --output plain")
}

#[tokio::test]
async fn an_unclean_election_asks_and_goes_on_with_yes() {
    for answer in ["y", "yes", "YES"] {
        let cluster = cluster().await;
        let mut terminal = Terminal::start(&unclean(&cluster), SIZE);
        terminal.expect("may lose records for good").await;
        terminal.expect(QUESTION).await;
        assert!(cluster.elections().is_empty());
        terminal.press(&format!("{answer}{ENTER}")).await;
        terminal.expect("2 elected, 0 not needed, 0 failed").await;
        let (status, text) = terminal.end().await;
        assert_eq!(shell_status(status), 0, "{text}");
        assert_eq!(cluster.elections(), [None]);
    }
}

#[tokio::test]
async fn any_other_answer_is_no() {
    for answer in ["n", "", "no", "yess", "j"] {
        let cluster = cluster().await;
        let mut terminal = Terminal::start(&unclean(&cluster), SIZE);
        terminal.expect(QUESTION).await;
        terminal.press(&format!("{answer}{ENTER}")).await;
        terminal.expect("nothing was elected").await;
        let (status, text) = terminal.end().await;
        assert_eq!(shell_status(status), 1, "{text}");
        assert!(cluster.elections().is_empty());
    }
}

#[tokio::test]
async fn ctrl_c_at_the_question_elects_nothing() {
    let cluster = cluster().await;
    let mut terminal = Terminal::start(&unclean(&cluster), SIZE);
    terminal.expect(QUESTION).await;
    terminal.press(CTRL_C).await;
    terminal.expect("nothing was elected").await;
    let (status, text) = terminal.end().await;
    assert_eq!(status.code(), Some(130), "{text}");
    assert!(cluster.elections().is_empty());
}

#[tokio::test]
async fn nobody_is_asked_who_has_said_yes_or_is_not_there() {
    let asked_nobody = |text: &str| !text.contains("[y/N]") && text.contains("may lose records");
    let one = cluster().await;
    let terminal = Terminal::start(&format!("{} --yes", unclean(&one)), SIZE);
    let (status, text) = terminal.end().await;
    assert_eq!(shell_status(status), 0, "{text}");
    assert!(asked_nobody(&text), "{text}");
    assert_eq!(one.elections(), [None]);

    let other = cluster().await;
    let finished = klamm(&unclean(&other)).await;
    assert_eq!(finished.code, Some(0), "{finished}");
    assert!(asked_nobody(&finished.stderr), "{finished}");
    assert_eq!(other.elections(), [None]);
}

#[tokio::test]
async fn waves_have_a_bar_that_goes_away() {
    let cluster = cluster().await;
    let pace = "--batch-size 1 --pause 200ms";
    let flags = "--election-type preferred --topic moved --partition all";
    for (columns, bar) in [
        (100, "1/3 partitions, wave 1 of 3, pausing 200ms"),
        (60, "1/3, wave"),
    ] {
        let cluster = if columns == 100 {
            cluster.clone()
        } else {
            self::cluster().await
        };
        let line = format!("elect {} {flags} {pace}", cluster.flag());
        let mut terminal = Terminal::start(&line, (columns, 30));
        terminal.expect("0/3").await;
        terminal.expect(bar).await;
        terminal.expect("2/3").await;
        terminal.expect("3 elected, 0 not needed, 0 failed").await;
        let (status, text) = terminal.end().await;
        assert_eq!(shell_status(status), 0, "{text}");
        // Nothing of the bar is left where the table begins.
        let (before, table) = text.split_once("PARTITION").expect("a table");
        assert!(before.contains("\u{1b}[2K"), "{before:?}");
        assert!(!table.contains("wave"), "{table:?}");
        assert_eq!(cluster.elections(), [Some(1); 3]);
    }
}

#[tokio::test]
async fn ctrl_c_in_a_pause_says_what_was_done() {
    let cluster = cluster().await;
    let flags = "--election-type preferred --topic moved --partition all";
    let line = format!("elect {} {flags} --batch-size 1 --pause 1h", cluster.flag());
    let mut terminal = Terminal::start(&line, SIZE);
    terminal.expect("pausing 1h").await;
    terminal.press(CTRL_C).await;
    terminal.expect("1 elected, 0 not needed, 2 failed").await;
    terminal.expect("interrupted before the end").await;
    let (status, text) = terminal.end().await;
    assert_eq!(shell_status(status), 130, "{text}");
    assert_eq!(cluster.elections(), [Some(1)]);
}

#[tokio::test]
async fn watching_refreshes_in_place_until_ctrl_c() {
    let cluster = cluster().await;
    let line = format!("leaders {} --watch 100ms --topic moved", cluster.flag());
    let mut terminal = Terminal::start(&line, SIZE);
    // The cursor is hidden and the screen cleared once; each frame begins at the top.
    terminal.expect("\u{1b}[?25l\u{1b}[2J\u{1b}[H").await;
    terminal
        .expect("klamm leaders, every 100ms; Ctrl-C ends it")
        .await;
    terminal.expect("3 off their preferred leader").await;
    let elect = "--election-type preferred --topic moved --partition all";
    let finished = klamm(&format!("elect {} {elect}", cluster.flag())).await;
    assert_eq!(finished.code, Some(0), "{finished}");
    terminal.expect("\u{1b}[H").await;
    terminal.expect("0 off their preferred leader").await;
    terminal.press(CTRL_C).await;
    terminal.expect("\u{1b}[?25h").await;
    let (status, text) = terminal.end().await;
    assert_eq!(shell_status(status), 130, "{text}");
    assert_eq!(text.matches("\u{1b}[2J").count(), 1, "{text:?}");
}

#[tokio::test]
async fn watching_keeps_the_last_frame_under_what_is_wrong() {
    let cluster = cluster().await;
    let config = file("terminal.properties", "retries=0\n");
    let config = config.display();
    let line = format!(
        "leaders {} --command-config {config} --watch 100ms",
        cluster.flag()
    );
    let mut terminal = Terminal::start(&line, SIZE);
    terminal.expect("5 off their preferred leader").await;
    cluster.break_off();
    terminal
        .expect("the cluster could not be asked who leads")
        .await;
    terminal.expect("As it was before:").await;
    terminal.expect("5 off their preferred leader").await;
    cluster.recover();
    // The caption of a frame that has nothing to complain of is dimmed.
    terminal.expect("Ctrl-C ends it\u{1b}[0m").await;
    terminal.press(CTRL_C).await;
    let (status, text) = terminal.end().await;
    assert_eq!(shell_status(status), 130, "{text}");
}

#[tokio::test]
async fn a_drill_is_drawn_in_place_and_cleared() {
    let line = "drill --partitions 6 --rate 200 --calm 3s";
    let mut terminal = Terminal::start(line, SIZE);
    terminal.expect("6 partitions, each with a leader").await;
    terminal.expect("records/s acknowledged").await;
    terminal.expect("is killed; it led 2 partitions").await;
    terminal.expect("is away").await;
    terminal.expect("the load runs without broker").await;
    let (status, text) = terminal.end().await;
    assert_eq!(shell_status(status), 0, "{text}");
    let (before, report) = text.rsplit_once("records         ").expect("a report");
    // What was drawn is gone before the report, and the cursor was never hidden.
    assert!(before.ends_with("\u{1b}[J"), "{before:?}");
    assert!(!report.contains("records/s"), "{report:?}");
    assert!(!text.contains("\u{1b}[?25l"), "{text:?}");
}

#[tokio::test]
async fn a_drill_ends_with_ctrl_c_and_leaves_nothing_drawn() {
    let mut terminal = Terminal::start("drill --calm 600s --rate 100", SIZE);
    terminal.expect("records/s acknowledged").await;
    terminal.press(CTRL_C).await;
    let (status, text) = terminal.end().await;
    assert_eq!(shell_status(status), 130, "{text}");
    // From the top of what was drawn everything is cleared.
    assert!(text.ends_with("\r\u{1b}[4A\u{1b}[J"), "{text:?}");
    assert!(!text.contains("\u{1b}[?25l"), "{text:?}");
}

#[tokio::test]
async fn a_drill_says_plain_lines_where_nothing_can_be_drawn() {
    for (size, term) in [((30, 30), "xterm-256color"), (SIZE, "dumb")] {
        let line = "drill --partitions 3 --rate 100 --calm 300ms";
        let terminal = Terminal::start_as(line, size, term);
        let (status, text) = terminal.end().await;
        assert_eq!(shell_status(status), 0, "{text}");
        assert!(text.contains("others lead, "), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
