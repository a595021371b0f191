//! The files of the page, which are part of the program, so that no path leads to the disk.

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::header::{X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use axum::response::{IntoResponse as _, Response};

/// The page may connect only to its own server, and no page may show it in a frame.
const POLICY: &str = "default-src 'self'; img-src 'self' blob: data:; style-src 'self' \
                      'unsafe-inline'; worker-src 'self' blob:; connect-src 'self' ws: wss:; \
                      frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

struct File {
    path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

const FILES: [File; 4] = [
    File {
        path: "/",
        content_type: "text/html; charset=utf-8",
        bytes: include_bytes!("../../page/dist/index.html"),
    },
    File {
        path: "/app.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../../page/dist/app.js"),
    },
    File {
        path: "/app.css",
        content_type: "text/css; charset=utf-8",
        bytes: include_bytes!("../../page/dist/app.css"),
    },
    // The licences of the libraries in the page.
    File {
        path: "/LICENSES.txt",
        content_type: "text/plain; charset=utf-8",
        bytes: include_bytes!("../../page/dist/LICENSES.txt"),
    },
];

/// Whether a path leads to the page itself, which needs the token.
pub(crate) fn is_entry(path: &str) -> bool {
    normal(path) == "/"
}

/// Returns the file at a path.
pub(crate) fn file(path: &str) -> Response {
    let Some(file) = FILES.iter().find(|file| file.path == normal(path)) else {
        return text(StatusCode::NOT_FOUND, "there is no such file: the page is at /");
    };
    let headers = [
        (CONTENT_TYPE, file.content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        // The address contains the token, so it must not be sent as a referrer.
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, file.bytes).into_response()
}

fn normal(path: &str) -> &str {
    if path == "/index.html" { "/" } else { path }
}

/// Returns a response that consists of one sentence.
pub(crate) fn text(status: StatusCode, sentence: &str) -> Response {
    let headers =
        [(CONTENT_TYPE, "text/plain; charset=utf-8"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (status, headers, format!("{sentence}\n")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_files_of_the_page_are_there() {
        for path in ["/", "/index.html", "/app.js", "/app.css", "/LICENSES.txt"] {
            assert_eq!(file(path).status(), StatusCode::OK, "{path}");
        }
        for path in ["/../Cargo.toml", "/%2e%2e/etc/passwd", "//", "/app.js/", "/etc/passwd", ""] {
            assert_eq!(file(path).status(), StatusCode::NOT_FOUND, "{path}");
        }
        assert!(is_entry("/") && is_entry("/index.html") && !is_entry("/app.js"));
    }
}
