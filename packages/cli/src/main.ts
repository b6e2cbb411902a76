#!/usr/bin/env node
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { questionsAt } from './ask.ts';
import { openBrowser } from './open-browser.ts';
import { runProgram } from './program.ts';
import type { Shell, Sink } from './shell.ts';

/** The door of the program: the only file that knows the process it runs in. What only some commands need they load themselves. */
const INTERRUPTED = 130;

// Whoever reads no further (`… | head`) has had enough.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
await runProgram(createShell(), process.argv.slice(2));
// A connection that is kept alive for the next request would keep the process, too.
await Promise.all([written(process.stdout), written(process.stderr)]);
process.exit();

function createShell(): Shell {
  return {
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    host: hostname(),
    platform: process.platform,
    version: readVersion(),
    now: Date.now,
    wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
    stdout: sinkOf(process.stdout),
    stderr: sinkOf(process.stderr),
    stdin: {
      isTerminal: process.stdin.isTTY === true,
      chunks: () => process.stdin as AsyncIterable<Uint8Array>,
    },
    ask: questionsAt(process.stderr),
    openBrowser: (url) => openBrowser(process.platform, url),
    onInterrupt,
    setExitCode(code) {
      process.exitCode = code;
    },
  };
}

function sinkOf(stream: NodeJS.WriteStream): Sink {
  return {
    isTerminal: stream.isTTY === true,
    columns: () => stream.columns || 80,
    async write(text) {
      if (!stream.write(text) && stream.writableNeedDrain) await once(stream, 'drain');
    },
  };
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

/** The first time work is let end by itself, the second time it is not waited for. */
function onInterrupt(listener: () => void): () => void {
  let isAsked = false;
  const heard = (): void => {
    if (isAsked) process.exit(INTERRUPTED);
    isAsked = true;
    listener();
  };
  process.on('SIGINT', heard).on('SIGTERM', heard);
  return () => void process.off('SIGINT', heard).off('SIGTERM', heard);
}

/** Of the nearest manifest above this file: the published program lies at another depth than its source. */
function readVersion(): string {
  for (let folder = new URL('.', import.meta.url); ; folder = new URL('..', folder)) {
    const manifest = new URL('package.json', folder);
    if (existsSync(manifest))
      return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
    if (folder.pathname === '/') throw new Error('a program without a manifest');
  }
}
