//! Checks of a page in headless Chromium: nothing is missing, and its console is empty.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A script that checks the page and appends the result as text: pictures without size, empty
/// panels, content wider than the page, and links without target.
const CHECKS: &str = r##"<script>
addEventListener("load", () => {
  const problems = [];
  for (const picture of document.images) if (!picture.naturalWidth) problems.push("missing picture " + picture.src);
  const panels = document.querySelectorAll(".panels > svg");
  panels.forEach((panel, i) => {
    const box = panel.getBoundingClientRect();
    if (box.width < 150 || box.height < 100) problems.push("panel " + i + " has no size");
    if (panel.querySelectorAll("path, circle").length < 8) problems.push("panel " + i + " is empty");
    for (const path of panel.querySelectorAll("path")) if (/NaN|inf/.test(path.getAttribute("d"))) problems.push("panel " + i + " has a path to nowhere");
  });
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth + 1) problems.push("the page is " + page.scrollWidth + " wide in " + page.clientWidth);
  for (const link of document.querySelectorAll("a[href^='#']"))
    if (!document.getElementById(link.getAttribute("href").slice(1))) problems.push("no place " + link.href);
  const colour = getComputedStyle(document.body).backgroundColor;
  const text = "CHECKED panels=" + panels.length + " background=" + colour + " problems=" + JSON.stringify(problems);
  document.body.append(text);
});
</script>"##;

fn chromium() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    })
}

/// Asserts that a page has no problems on a light desktop and on a dark phone. Without a browser,
/// writes that the check is skipped past the capture of the test's output, or fails if
/// `FULD_REQUIRE_BROWSER` is set.
pub(crate) fn opens(page: &Path) {
    let Some(chromium) = chromium() else {
        let note = format!(
            "Chromium is required to check {} (Debian: apt install chromium)",
            page.display()
        );
        assert!(std::env::var_os("FULD_REQUIRE_BROWSER").is_none(), "{note}");
        let _ = writeln!(std::io::stderr(), "skipped: {note}");
        return;
    };
    let folder = TempDir::new().unwrap();
    let checked = folder.path().join("checked.html");
    let text = std::fs::read_to_string(page).unwrap();
    let panels = text.matches("role=\"img\"").count();
    std::fs::write(&checked, text.replace("</body>", &format!("{CHECKS}</body>"))).unwrap();
    for (size, scheme, background) in
        [("1200,900", "1", "rgb(255, 255, 255)"), ("500,800", "0", "rgb(20, 23, 28)")]
    {
        let output = Command::new(chromium)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
            ])
            .args([
                "--disable-component-update",
                "--disable-sync",
                "--enable-logging=stderr",
                "--dump-dom",
            ])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(format!("--window-size={size}"))
            .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
            .arg(format!("file://{}", checked.display()))
            .output()
            .unwrap();
        let (dom, log) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let expected = format!("CHECKED panels={panels} background={background} problems=[]");
        assert!(
            panels > 0 && dom.contains(&expected),
            "{expected}: {:?}",
            dom.rsplit("CHECKED").next()
        );
        let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(console.is_empty(), "{console:?}");
    }
}
