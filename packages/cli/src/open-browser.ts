import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Starts the opener without a shell, so that nothing in the URL is interpreted. False if there is no browser. */
export async function openBrowser(platform: string, url: string): Promise<boolean> {
  const [program = '', ...args] = OPENERS.get(platform) ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.unref();
  const opened = once(child, 'spawn').then(() => true);
  return opened.catch(() => false);
}

const OPENERS = new Map([
  ['darwin', ['open']],
  ['win32', ['rundll32', 'url.dll,FileProtocolHandler']],
]);
