/** The capacity of `sockaddr_un` without the closing NUL: 108 bytes on Linux, 104 on macOS and the BSDs. */
const PATH_MAX_BYTES = { linux: 107, other: 103 };
/** The longest pipe name on Windows. */
const PIPE_MAX_CHARS = 256;

/**
 * The address of the local shell: a Unix socket in the data directory, or a named pipe on Windows.
 *
 * The server listens there and the command line connects there, so both compute it here.
 * `dataDir` is absolute; `platform` is `process.platform`. Returns null if the path is too long to listen on.
 */
export function localSocket(dataDir: string, platform: string): string | null {
  if (platform === 'win32') {
    const pipe = String.raw`\\.\pipe\beckon-` + encodeURIComponent(dataDir.toLowerCase());
    return pipe.length > PIPE_MAX_CHARS ? null : pipe;
  }
  const path = `${dataDir.replace(/\/+$/, '')}/beckon.sock`;
  const max = platform === 'linux' ? PATH_MAX_BYTES.linux : PATH_MAX_BYTES.other;
  return new TextEncoder().encode(path).length > max ? null : path;
}
