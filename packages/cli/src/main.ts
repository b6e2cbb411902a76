#!/usr/bin/env node
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { createPrompts } from './ask.ts';
import { EXIT } from './failure.ts';
import { openBrowser } from './open-browser.ts';
import { runProgram } from './program.ts';
import type { Shell, Sink } from './shell.ts';

// The entry point, and the only file that uses the process. A closed pipe (`… | head`) ends it without an error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
await runProgram(createShell(), process.argv.slice(2));
// A keep-alive connection would keep the process running.
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
    prompts: createPrompts(process.stderr),
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

/** The first signal lets the command end; the second one exits immediately. */
function onInterrupt(listener: () => void): () => void {
  let isInterrupted = false;
  const onSignal = (): void => {
    if (isInterrupted) process.exit(EXIT.interrupted);
    isInterrupted = true;
    listener();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
}

/** Reads the nearest manifest above this file: the published program is at another depth than its source. */
function readVersion(): string {
  for (let folder = new URL('.', import.meta.url); ; folder = new URL('..', folder)) {
    const manifest = new URL('package.json', folder);
    if (existsSync(manifest))
      return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
    if (folder.pathname === '/') throw new Error('No package.json found above the program');
  }
}
