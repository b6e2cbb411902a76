import type { Duplex } from 'node:stream';
import type pg from 'pg';

/** Members of the driver for COPY, which its types do not include. */
type Wire = {
  stream: Duplex;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
};

const AHEAD_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Copies all rows of a table from one database to another with COPY. Each row is passed on as it arrives: if the target is slower, the
 * source is paused, which bounds the memory.
 */
export async function copyTable(
  { from, to }: { from: pg.Client; to: pg.Client },
  { table, columns }: { table: string; columns: string },
): Promise<void> {
  const into = new CopyIn(`COPY ${table} (${columns}) FROM STDIN`);
  to.query(into);
  const target = await into.ready;
  const out = new CopyOut(`COPY (SELECT ${columns} FROM ${table}) TO STDOUT`, target);
  from.query(out);
  try {
    // If the target dies, the source waits for it without an error.
    await Promise.race([out.ended, into.ended]);
    target.endCopyFrom();
  } catch (error) {
    target.sendCopyFail('the other side has failed');
    await into.ended.catch(() => {});
    throw error;
  }
  await into.ended;
}

/** The common part of both directions: the driver calls these methods as answers arrive. */
class Copy {
  readonly ended: Promise<void>;
  protected readonly text: string;
  protected succeed: () => void = () => {};
  protected fail: (error: Error) => void = () => {};

  constructor(text: string) {
    this.text = text;
    this.ended = new Promise((resolve, reject) => {
      this.succeed = resolve;
      this.fail = reject;
    });
    // Avoids an unhandled rejection; every caller that awaits it gets the error too.
    this.ended.catch(() => {});
  }

  submit(connection: pg.Connection): void {
    connection.query(this.text);
  }

  handleError(error: Error): void {
    this.fail(error);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.succeed();
  }
}

class CopyIn extends Copy {
  readonly ready: Promise<Wire>;
  private begin: (wire: Wire) => void = () => {};

  constructor(text: string) {
    super(text);
    this.ready = new Promise((resolve, reject) => {
      this.begin = resolve;
      this.ended.catch(reject);
    });
  }

  handleCopyInResponse(wire: Wire): void {
    this.begin(wire);
  }
}

class CopyOut extends Copy {
  private readonly target: Wire;

  constructor(text: string, target: Wire) {
    super(text);
    this.target = target;
  }

  handleCopyData({ chunk }: { chunk: Buffer }, wire: Wire): void {
    const { stream } = this.target;
    this.target.sendCopyFromChunk(chunk);
    if (stream.writableLength < AHEAD_MAX_BYTES || wire.stream.isPaused()) return;
    wire.stream.pause();
    stream.once('drain', () => wire.stream.resume());
  }
}
