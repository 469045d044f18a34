use crate::process::Folder;

/// Every command, as the list of its words.
fn commands(folder: &Folder) -> Vec<Vec<String>> {
    let below = |path: &[String]| -> Vec<String> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let help = folder.result(&[&["help"], &path[..]].concat());
        let Some(part) = help.split("Befehle:\n").nth(1) else { return Vec::new() };
        let lines = part.split("\n\n").next().unwrap().lines();
        // The description of a command continues in lines that are indented further.
        let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        names
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .map(str::to_owned)
            .collect()
    };
    let mut all = vec![Vec::new()];
    let mut at = 0;
    while at < all.len() {
        let path = all[at].clone();
        all.extend(below(&path).into_iter().map(|name| [path.clone(), vec![name]].concat()));
        at += 1;
    }
    all
}

#[test]
fn the_help_of_every_command_fits_60_and_80_columns_and_breaks_no_example() {
    let folder = Folder::new();
    let commands = commands(&folder);
    assert!(commands.len() > 30, "{commands:?}");
    let mut wrong = Vec::new();
    for command in commands {
        let help = |columns: &str| {
            let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
            let output = folder.command(&arguments).env("COLUMNS", columns).output().unwrap();
            assert!(output.status.success(), "{command:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        for width in [60, 80] {
            let text = help(&width.to_string());
            let long = text.lines().filter(|line| line.chars().count() > width);
            wrong.extend(long.map(|line| format!("{command:?} at {width}: {line}")));
            let examples = |text: &str| text.split("Beispiele:\n").nth(1).map(str::to_owned);
            if examples(&text) != examples(&help("200")) {
                wrong.push(format!("{command:?} at {width}: an example is broken"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tables_fit_80_columns_break_no_id_and_turn_into_blocks_at_60() {
    let folder = Folder::new();
    let key = folder.company("Mühle Beispiel");
    let id = key.split('_').nth(1).unwrap();
    let create = ["key", "create", "--tenant", "1", "--label", "shop", "--for", "shop", "--out", "s.key"];
    folder.result(&create);
    let scopes = "kunden:read,artikelgruppen:read,produktion:read,produktion:write";
    folder.result(&["key", "create", "--tenant", "1", "--label", "dms", "--scope", scopes, "--out", "d.key"]);
    let ids: Vec<String> =
        serde_json::from_str::<Vec<serde_json::Value>>(&folder.result(&["key", "list", "--json"]))
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect();
    let server = folder.serve(&[]);
    for path in ["/api/v1/kunden", "/api/v1/nichts"] {
        server.client(&key).get(path);
        server.client("").get(path);
    }
    let shown = |command: &[&str], columns: usize| {
        let output = folder.command(command).env("COLUMNS", columns.to_string()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let long: Vec<_> = text.lines().filter(|line| line.chars().count() > columns).collect();
        assert!(long.is_empty(), "{command:?} at {columns}: {long:?}\n{text}");
        text
    };
    for columns in [60, 80, 120] {
        let keys = shown(&["key", "list"], columns);
        assert!(ids.iter().all(|id| keys.contains(id.as_str())), "{columns}:\n{keys}");
        assert!(keys.contains("artikelgruppen:read"), "{columns}:\n{keys}");
        assert!(keys.starts_with("id  "), "{columns}:\n{keys}");
        assert_eq!(
            keys.lines().next().unwrap().contains("Berechtigungen"),
            columns > 60,
            "{columns}:\n{keys}"
        );
        let log = shown(&["audit", "list"], columns);
        assert!(log.contains(id) && log.contains("/api/v1/nichts"), "{columns}:\n{log}");
        for command in ["tenant show 1", "tenant list", "check", "config", "migrate --status"] {
            shown(&command.split(' ').collect::<Vec<_>>(), columns);
        }
    }
    // Paths can be longer than a line; the rest of the line fits.
    let doctor = folder.command(&["doctor"]).env("COLUMNS", "80").output().unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{doctor}");
}
