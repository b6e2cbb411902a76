import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attack, Finding, Target } from './attack.ts';
import {
  bodyFor,
  dashboardRoutes,
  ENDLESS,
  leastOf,
  liftLimits,
  OPEN_PAGES,
  publicRoutes,
} from './routes.ts';
import { runTool } from './run-tool.ts';
import type { Victim } from './victim.ts';

const VALUES = [
  "'",
  '"',
  "' OR '1'='1",
  '1;SELECT pg_sleep(0)--',
  '../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '%00',
  '%ff',
  '%ED%A0%80',
  '__proto__',
  'constructor',
  '-1',
  '0',
  '99999999999999999999',
  '1e309',
  '00000000-0000-0000-0000-000000000000',
  '{{7*7}}',
  '${7*7}',
  '<script>',
  '%0d%0aX: y',
  '(((((',
  'a'.repeat(900),
  '%F0%9F%90%A3',
  'null',
  'undefined',
  '*',
  '|id',
  ';id',
  '`id`',
];
/** Files that careless operators leave exposed. */
const CARELESS = [
  '.env',
  '.git/HEAD',
  '.git/config',
  '.npmrc',
  'package.json',
  'package-lock.json',
  'data/secret.key',
  'secret.key',
  'postgres.json',
  'backup.sql',
  'dump.sql',
  'server-status',
  'admin',
  'phpinfo.php',
  'wp-login.php',
  '.well-known/security.txt',
  'debug',
  'trace',
  'actuator',
  'console',
  'graphql',
  'swagger.json',
  'api/v1/admin',
  'api/dashboard',
  'src/main/main.ts',
  'assets/../../../../etc/passwd',
  'assets/..%2f..%2fpackage.json',
  'guide/..%2f..%2fpackage.json',
  'guide/%2e%2e/%2e%2e/etc/passwd',
  'assets/',
  '.DS_Store',
  'id_rsa',
  'config.json',
  'docker-compose.yml',
  'compose.yaml',
];
/** Routes that would end what the others need: the session, the project, the members of the installation. */
const ENDS_IT =
  /^POST .(?:sign|setup|reset|forgot|password|two-f|passk)|^DELETE .projects.:project$|sessions/;
const SQLMAP_ROUTE_S = 45;

export const s12: Attack = {
  id: 'S12',
  title: 'scanners: ffuf, wapiti and sqlmap on every route, with a key and with a session',
  passLine: '0 findings, 0 answers of 5xx',
  quick: false,
  needs: ['ffuf', 'wapiti', 'sqlmap'],
  async run(target) {
    const victim = await target.own({ LOG_LEVEL: 'warn' });
    const { secret } = await victim.newKey(victim.projectId, 'scanned');
    await liftLimits(victim);
    const surface = await surfaceOf(victim, secret);
    target.count('routes', surface.length);
    const findings = [
      ...(await runFfuf(target, victim, surface)),
      ...(await runWapiti(target, victim, surface)),
      ...(await runSqlmap(target, victim, surface)),
    ];
    const broken = victim
      .log()
      .split('\n')
      .filter((line) => line.includes('"event":"request.failed"'));
    if (broken.length > 0)
      findings.push({
        severity: 'high',
        what: `${broken.length} requests failed inside`,
        evidence: broken[0] ?? '',
      });
    const { status } = await victim.send('GET /readyz');
    if (status !== 200) findings.push({ severity: 'high', what: `it is not well afterwards: ${status}` });
    return findings;
  },
};

/** A route with its parameters. STAR marks each place for a payload. */
type Route = { method: string; path: string; headers: string[]; body: object | null; query: string[] };

async function surfaceOf(victim: Victim, secret: string): Promise<Route[]> {
  const bearer = [`Authorization: Bearer ${secret}`];
  const session = [`Cookie: ${victim.cookie}`, `Origin: ${victim.url}`];
  const api = (await publicRoutes(victim)).filter(({ path }) => path.startsWith('/api/'));
  return [
    ...api.map(({ method, path }) => ({
      method,
      path,
      headers: bearer,
      body: bodyFor(path, 'STAR'),
      query: [],
    })),
    ...dashboardRoutes
      .filter(({ key, isRaw }) => !ENDLESS.has(key) && !ENDS_IT.test(key) && isRaw !== true)
      .map(({ key, body, query }) => {
        const [method = '', path = ''] = key.split(' ');
        const filled = path.replace(':project', String(victim.projectId)).replaceAll(/:\w+/g, 'STAR');
        const least = method === 'GET' ? null : (leastOf(body ?? { type: 'object' }, 'STAR') as object);
        const names = Object.keys((query as { properties?: object } | undefined)?.properties ?? {});
        return { method, path: `/api/dashboard${filled}`, headers: session, body: least, query: names };
      }),
    ...['/o/STAR.gif', '/c/STAR/0', '/u/STAR', '/.well-known/beckon/STAR', '/p/STAR'].map((path) => ({
      method: 'GET',
      path,
      headers: [],
      body: null,
      query: [],
    })),
  ];
}

type FfufResult = { status: number; url: string; input: Record<string, string> };

/** Tries every value in every place of every route, and the exposed files. */
async function runFfuf(target: Target, victim: Victim, surface: Route[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const groups = Map.groupBy(surface, ({ method, headers }) => JSON.stringify([method, headers]));
  for (const [key, routes] of groups) {
    const [method, headers] = JSON.parse(key) as [string, string[]];
    const paths = routes.flatMap(({ path, query }) => [
      ...(path.includes('STAR') ? VALUES.map((value) => path.replaceAll('STAR', encoded(value))) : [path]),
      ...query.flatMap((name) =>
        VALUES.map((value) => `${path.replaceAll('STAR', 'x')}?${name}=${encoded(value)}`),
      ),
    ]);
    const more = method === 'GET' ? [] : ['-d', '{}', '-H', 'Content-Type: application/json'];
    const args = ['-X', method, ...headers.flatMap((one) => ['-H', one]), ...more];
    const results = await ffuf(target, victim, {
      words: paths.map((path) => path.slice(1)),
      codes: FIVES,
      args,
    });
    findings.push(
      ...results.map(({ status, url }): Finding => ({
        severity: 'high',
        what: `ffuf: ${method} answers ${status}`,
        evidence: url,
      })),
    );
    if (method === 'GET') continue;
    for (const { path, body } of routes.filter(
      (route) => route.body !== null && JSON.stringify(route.body).includes('STAR'),
    )) {
      const bodies = VALUES.map((value) =>
        JSON.stringify(body).replaceAll('STAR', JSON.stringify(decoded(value)).slice(1, -1)),
      );
      const hurt = await ffuf(target, victim, {
        words: bodies,
        codes: FIVES,
        args: [
          '-X',
          method,
          ...headers.flatMap((one) => ['-H', one]),
          '-H',
          'Content-Type: application/json',
          '-d',
          'FUZZ',
        ],
        url: victim.url + path.replaceAll('STAR', 'x'),
      });
      findings.push(
        ...hurt.map(({ status, input }): Finding => ({
          severity: 'high',
          what: `ffuf: ${method} ${path} answers ${status}`,
          evidence: JSON.stringify(input),
        })),
      );
    }
  }
  const open = await ffuf(target, victim, {
    words: CARELESS,
    codes: '200,201,204,301,302,307,308',
    args: [],
  });
  findings.push(
    ...open.map(({ status, url }): Finding => ({
      severity: 'high',
      what: `ffuf: ${url} is there (${status})`,
    })),
  );
  return findings;
}

const FIVES = '500,501,502,503,504,505,507,508,511,520,599';

type Ffuf = { words: string[]; codes: string; args: string[]; url?: string };

async function ffuf(
  target: Target,
  victim: Victim,
  { words, codes, args, url }: Ffuf,
): Promise<FfufResult[]> {
  const list = join(target.dir, 'words.txt');
  const out = join(target.dir, 'ffuf.json');
  writeFileSync(list, `${words.join('\n')}\n`);
  const where = url ?? `${victim.url}/FUZZ`;
  const { out: said } = await runTool(
    'ffuf',
    ['-w', list, '-u', where, '-mc', codes, '-of', 'json', '-o', out, '-t', '4', '-timeout', '60', ...args],
    { seconds: 600, cwd: target.dir },
  );
  const asked = Number(/Progress: \[(\d+)\/\d+\](?![^]*Progress:)/.exec(said)?.[1] ?? 0);
  const errors = Number(/Errors: (\d+)(?![^]*Errors:)/.exec(said)?.[1] ?? 0);
  target.count('requests of ffuf', asked);
  if (asked === 0) throw new Error(`ffuf asked nothing: ${said.slice(-500)}`);
  if (errors > 0) target.note(`ffuf had no answer to ${errors} of ${asked} requests to ${where}`);
  return (JSON.parse(await readFile(out, 'utf8')) as { results: FfufResult[] | null }).results ?? [];
}

/** Encodes characters that a request line cannot hold. A value that is encoded already stays unchanged. */
function encoded(value: string): string {
  return value.includes('%') ? value : encodeURIComponent(value);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

type WapitiReport = { vulnerabilities: Record<string, object[]>; anomalies: Record<string, object[]> };
const WAPITI_MINUTES = 10;

/** Leaves out the modules that query servers on the internet or load their lists from there. */
const WAPITI_MODULES =
  'sql,timesql,xss,permanentxss,exec,file,crlf,redirect,backup,csp,http_headers,cookieflags,methods,shellshock,htaccess';

async function runWapiti(target: Target, victim: Victim, surface: Route[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const reads = surface.filter(({ method }) => method === 'GET');
  const urls = reads.map(({ path, query }) => {
    const asked = query.map((name) => `${name}=1`).join('&');
    return `${victim.url}${path.replaceAll('STAR', 'x')}${asked === '' ? '' : `?${asked}`}`;
  });
  const starts = [...OPEN_PAGES.map((path) => victim.url + path), ...urls].flatMap((url) => ['-s', url]);
  const out = join(target.dir, 'wapiti.json');
  const minutes = Math.min(WAPITI_MINUTES, target.limits.sqlmapMinutes);
  const { out: said, wasCut } = await runTool(
    'wapiti',
    [
      '-u',
      `${victim.url}/`,
      ...starts,
      '--scope',
      'domain',
      '-d',
      '1',
      '-m',
      WAPITI_MODULES,
      '-H',
      `Cookie: ${victim.cookie}`,
      '--flush-session',
      '--no-bugreport',
      '--max-attack-time',
      String(minutes * 12),
      '--max-scan-time',
      String(minutes * 60),
      '-f',
      'json',
      '-o',
      out,
      '-v',
      '1',
    ],
    // When wapiti is stopped, it prompts for what to do with its findings. The answer `r` makes it write a report.
    { seconds: minutes * 120, cwd: target.dir, says: 'r\n' },
  );
  target.count('addresses for wapiti', starts.length / 2);
  if (wasCut)
    target.note(`wapiti was stopped after ${minutes * 2} minutes, before it had tried all of its modules`);
  const report = JSON.parse(await readFile(out, 'utf8').catch(() => '{}')) as Partial<WapitiReport>;
  if (!report.vulnerabilities) throw new Error(`wapiti wrote no report: ${said.slice(-800)}`);
  const all = { ...report.vulnerabilities, ...report.anomalies };
  for (const [name, entries] of Object.entries(all))
    for (const entry of entries) {
      const { path = '', info = '', level = 1 } = entry as { path?: string; info?: string; level?: number };
      findings.push({
        severity: level >= 3 ? 'high' : level === 2 ? 'medium' : 'low',
        what: `wapiti: ${name} at ${path}: ${info}`,
      });
    }
  return findings;
}

/** Runs level 1 on every place of every route within the time limit. Places that it did not reach are reported. */
async function runSqlmap(target: Target, victim: Victim, surface: Route[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const endsAt = Date.now() + target.limits.sqlmapMinutes * 60_000;
  const withPlaces = surface.filter(
    ({ path, body, query }) =>
      path.includes('STAR') || query.length > 0 || JSON.stringify(body).includes('STAR'),
  );
  let [whole, cut] = [0, 0];
  for (const route of withPlaces) {
    const left = (endsAt - Date.now()) / 1_000;
    if (left < 5) break;
    const file = join(target.dir, 'request.txt');
    writeFileSync(file, rawRequest(victim, route));
    const { out, wasCut } = await runTool(
      'sqlmap',
      [
        '-r',
        file,
        '--ignore-stdin',
        '--batch',
        '--level',
        '1',
        '--risk',
        '1',
        '--dbms',
        'PostgreSQL',
        '--flush-session',
        '--threads',
        '2',
        '--ignore-code',
        '*',
        '--output-dir',
        join(target.dir, 'sqlmap'),
        '--disable-coloring',
      ],
      { seconds: Math.min(SQLMAP_ROUTE_S, left), cwd: target.dir },
    );
    if (wasCut) cut += 1;
    else whole += 1;
    const what = `${route.method} ${route.path}`;
    if (/identified the following injection point|is vulnerable\b/.test(out))
      findings.push({ severity: 'high', what: `sqlmap: ${what} can be injected`, evidence: out.slice(-800) });
    const fives = /\b(5\d\d) \([^)]*\) - (\d+) times/.exec(out);
    if (fives)
      findings.push({ severity: 'high', what: `sqlmap: ${what} answered ${fives[1]}, ${fives[2]} times` });
    if (!wasCut && !/do not appear to be injectable|does not seem to be injectable|injection point/.test(out))
      target.note(
        `sqlmap said nothing of ${what}: ${out.trim().split('\n').slice(-3).join(' ').slice(0, 200)}`,
      );
  }
  target.count('routes for sqlmap', whole + cut);
  target.note(
    `sqlmap: ${whole} routes to their end, ${cut} cut after ${SQLMAP_ROUTE_S} s, ${withPlaces.length - whole - cut} not come to in ${target.limits.sqlmapMinutes} minutes`,
  );
  return findings;
}

function rawRequest(victim: Victim, { method, path, headers, body, query }: Route): string {
  const asked = query.map((name) => `${name}=1*`).join('&');
  const sent = body === null ? '' : JSON.stringify(body).replaceAll('STAR', 'x*');
  return [
    `${method} ${path.replaceAll('STAR', 'x*')}${asked === '' ? '' : `?${asked}`} HTTP/1.1`,
    `Host: localhost:${victim.port}`,
    ...headers,
    ...(body === null ? [] : ['Content-Type: application/json']),
    '',
    sent,
  ].join('\r\n');
}
