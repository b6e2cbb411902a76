import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** No shell in between: an address is an argument, whatever is in it. False: there is nothing here that opens one. */
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
