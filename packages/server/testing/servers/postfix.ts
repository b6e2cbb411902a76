import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

/** A real relay of the test: its configuration, queue and log are in a directory of this run, and no system service is changed. */
export type Postfix = {
  port: number;
  /** The login that is accepted besides loopback itself. Postfix verifies each login with our server. */
  credentials: { user: string; pass: string };
  /** Waits until no email is on its way to the receiving server. */
  idle(): Promise<void>;
  log(): Promise<string>;
  stop(): Promise<void>;
};

const COMMAND = '/usr/sbin/postfix';
const DAEMONS = '/usr/lib/postfix/sbin';
const READY_WITHIN_MS = 20_000;
const run = promisify(execFile);

/**
 * Returns why Postfix is unavailable on this machine, or null. Its master process starts as root only, and drops the privileges at once.
 */
export function missingPostfix(): string | null {
  if (!existsSync(COMMAND) || !existsSync(`${DAEMONS}/master`)) return 'Postfix is not installed';
  return process.getuid?.() === 0 ? null : 'Postfix is started by root only';
}

export type PostfixOptions = {
  farEnd: number;
  /** The port that receives bounces to signed sender addresses. */
  bouncesTo?: number;
  /** The time after which a deferred email bounces, by default five days. */
  giveUpAfterS?: number;
};

/** Starts a relay that delivers everything to the receiving server, whatever the recipient, except bounces if `bouncesTo` is set. */
export async function startPostfix(options: PostfixOptions): Promise<Postfix> {
  const folder = await mkdtemp(join(tmpdir(), 'beckon-postfix-'));
  // Its daemons run as `postfix` and need access.
  await chmod(folder, 0o755);
  const credentials = { user: 'beckon', pass: 'a password of this run' };
  const doorman = await startDoorman(credentials);
  const port = await freePort();
  for (const name of ['conf', 'queue', 'data']) await mkdir(join(folder, name), { mode: 0o755 });
  await run('chown', ['postfix', join(folder, 'data')]);
  await writeFile(join(folder, 'conf/main.cf'), mainOf({ ...options, folder, doorman: doorman.port }));
  await writeFile(join(folder, 'conf/master.cf'), masterOf(port));
  const { bouncesTo } = options;
  if (bouncesTo !== undefined)
    await writeFile(join(folder, 'conf/transport'), `/^b\\+/ smtp:[127.0.0.1]:${bouncesTo}\n`);
  const conf = join(folder, 'conf');
  const log = (): Promise<string> => readFile(join(folder, 'mail.log'), 'utf8').catch(() => '');
  const script = spawn(COMMAND, ['-c', conf, 'start-fg'], { stdio: ['ignore', 'ignore', 'ignore'] });
  const stop = async (): Promise<void> => {
    await end(script, join(folder, 'queue/pid/master.pid'));
    await doorman.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await greeted(port, script);
  } catch (error) {
    const output = await log();
    await stop();
    throw new Error(`Postfix did not start:\n${output}`, { cause: error });
  }
  return { port, credentials, idle: () => idle(conf), log, stop };
}

type Main = PostfixOptions & { folder: string; doorman: number };

function mainOf({ folder, farEnd, doorman, bouncesTo, giveUpAfterS }: Main): string {
  const lifetime = giveUpAfterS === undefined ? '' : `maximal_queue_lifetime = ${giveUpAfterS}s\n`;
  const transport = bouncesTo === undefined ? '' : `transport_maps = regexp:${folder}/conf/transport\n`;
  return `${lifetime}${transport}compatibility_level = 3.6
command_directory = /usr/sbin
daemon_directory = ${DAEMONS}
queue_directory = ${folder}/queue
data_directory = ${folder}/data
maillog_file = ${folder}/mail.log
maillog_file_prefixes = ${folder}
mail_owner = postfix
setgid_group = postdrop
myhostname = relay.postfix.test
mydestination =
mynetworks = 127.0.0.0/8
alias_maps =
alias_database =
local_recipient_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
disable_dns_lookups = yes
smtp_host_lookup = native
smtputf8_enable = no
smtpd_tls_security_level = none
smtp_tls_security_level = none
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:${doorman}
smtpd_sasl_security_options = noanonymous
relayhost = [127.0.0.1]:${farEnd}
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 2s
`;
}

/** Returns its services without those for local mail, none of them in a chroot. */
function masterOf(port: number): string {
  const inet = `127.0.0.1:${port} inet n - n - - smtpd`;
  const unix = [
    'pickup unix n - n 60 1 pickup',
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'verify unix - - n - 1 verify',
    'flush unix n - n 1000? 0 flush',
    'proxymap unix - - n - - proxymap',
    'smtp unix - - n - - smtp',
    'relay unix - - n - - smtp',
    'showq unix n - n - - showq',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'discard unix - - n - - discard',
    'anvil unix - - n - 1 anvil',
    'scache unix - - n - 1 scache',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'postlog unix-dgram n - n - 1 postlogd',
  ];
  return `${[inet, ...unix].join('\n')}\n`;
}

/** Waits until it greets clients. */
async function greeted(port: number, script: ChildProcess): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  for (;;) {
    if (script.exitCode !== null) throw new Error(`it ended with ${script.exitCode}`);
    if (await greets(port)) return;
    if (performance.now() > until) throw new Error('Postfix does not greet clients');
    await pause(50);
  }
}

async function greets(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(5_000, () => socket.destroy());
  try {
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    return greeting.toString().startsWith('220 ');
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function idle(conf: string): Promise<void> {
  for (;;) {
    const { stdout } = await run('/usr/sbin/postqueue', ['-c', conf, '-j']);
    if (stdout.trim() === '') return;
    await pause(50);
  }
}

/** The child process is a script that waits for the master, which has a session of its own. */
async function end(script: ChildProcess, pidFile: string): Promise<void> {
  if (script.exitCode !== null) return;
  const gone = once(script, 'exit');
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''));
  if (pid > 0) process.kill(pid, 'SIGTERM');
  else script.kill('SIGTERM');
  await gone;
}

/** Postfix delegates logins to a Dovecot server. This one implements the part of its protocol that a PLAIN login needs. */
async function startDoorman({
  user,
  pass,
}: Postfix['credentials']): Promise<{ port: number; stop(): Promise<void> }> {
  const expected = Buffer.from(`\0${user}\0${pass}`).toString('base64');
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.write(
      'VERSION\t1\t2\nMECH\tPLAIN\tplaintext\nSPID\t1\nCUID\t1\nCOOKIE\t00112233445566778899aabbccddeeff\nDONE\n',
    );
    let held = '';
    socket.on('data', (data: Buffer) => {
      const lines = (held + data.toString('latin1')).split('\n');
      held = lines.pop() ?? '';
      for (const line of lines) {
        const [verb, id, , ...more] = line.split('\t');
        if (verb !== 'AUTH') continue;
        const isValid = more.includes(`resp=${expected}`);
        socket.write(isValid ? `OK\t${id}\tuser=${user}\n` : `FAIL\t${id}\tuser=${user}\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    async stop() {
      server.close();
      sockets.forEach((socket) => socket.destroy());
      await once(server, 'close');
    },
  };
}
