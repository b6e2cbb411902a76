import type { Line } from './connection.ts';

/** Connections that wait for the next email. The most recently used one is taken first, so that unneeded ones expire. */
export type KeptLines = {
  take: () => Line | null;
  keep: (line: Line) => void;
  close: () => void;
};

export function keepLines(idleMs: number): KeptLines {
  const kept: { line: Line; timer: NodeJS.Timeout }[] = [];
  let closed = false;

  function drop(line: Line): void {
    const at = kept.findIndex((one) => one.line === line);
    if (at >= 0) kept.splice(at, 1);
    line.hangUp('The connection was not needed');
  }

  function take(): Line | null {
    const last = kept.pop();
    if (!last) return null;
    clearTimeout(last.timer);
    return last.line.isDead() ? take() : last.line;
  }

  return {
    take,
    keep(line) {
      if (closed) return line.hangUp('The connection is no longer needed');
      kept.push({ line, timer: setTimeout(() => drop(line), idleMs).unref() });
    },
    close() {
      closed = true;
      for (const { line, timer } of kept.splice(0)) {
        clearTimeout(timer);
        line.hangUp('The connection is no longer needed');
      }
    },
  };
}
