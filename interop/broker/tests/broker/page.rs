//! The page that says which clients are tested.

use std::fmt::Write as _;

use crate::Context;
use crate::clients::{CLIENTS, Can, Client};

const PAGE: &str = include_str!("../../../../docs/clients.md");

/// Its table is what the suite does, no more and no less.
pub(crate) fn tells_what_is_tested(_: &mut Context) {
    let table = table();
    assert!(
        PAGE.contains(&table),
        "docs/clients.md lacks this table:\n{table}"
    );
}

fn table() -> String {
    let mut table = String::from(
        "| client | version | topics | produce | consume | list offsets | elect leaders |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for client in CLIENTS {
        let yes = |can| if client.can(can) { "yes" } else { "no" };
        writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} |",
            client.name,
            (client.version)(),
            yes(Can::Topics),
            produce(client),
            if client.can(Can::Assign) {
                "yes"
            } else {
                "in groups only"
            },
            yes(Can::Offsets),
            yes(Can::Elect),
        )
        .expect("a String takes everything");
    }
    table
}

fn produce(client: &Client) -> String {
    client.codecs.join(", ")
}
