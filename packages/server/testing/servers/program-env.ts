/** The environment of a program in tests: of this process only where it finds programs, compiled modules and temporary files. */
export function programEnv(): Record<string, string> {
  const names = ['PATH', 'NODE_COMPILE_CACHE', 'TMPDIR'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
