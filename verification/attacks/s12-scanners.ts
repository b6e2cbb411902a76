import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attack, Finding, Target } from './attack.ts';
import {
  bodyFor,
  dashboardRoutes,
  ENDLESS,
  smallestValue,
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
  passLine: '0 findings, 0 responses with 5xx',
  quick: false,
  needs: ['ffuf', 'wapiti', 'sqlmap'],
  async run(target) {
    const victim = await target.ownVictim({ LOG_LEVEL: 'warn' });
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
        title: `${broken.length} requests failed inside`,
        evidence: broken[0] ?? '',
      });
    const { status } = await victim.send('GET /readyz');
    if (status !== 200) findings.push({ severity: 'high', title: `it is not well afterwards: ${status}` });
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
        const smallestBody =
          method === 'GET' ? null : (smallestValue(body ?? { type: 'object' }, 'STAR') as object);
        const names = Object.keys((query as { properties?: object } | undefined)?.properties ?? {});
        return {
          method,
          path: `/api/dashboard${filled}`,
          headers: session,
          body: smallestBody,
          query: names,
        };
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
    const args = ['-X', method, ...headers.flatMap((header) => ['-H', header]), ...more];
    const results = await ffuf(target, victim, {
      words: paths.map((path) => path.slice(1)),
      codes: FIVES,
      args,
    });
    findings.push(
      ...results.map(({ status, url }): Finding => ({
        severity: 'high',
        title: `ffuf: ${method} answers ${status}`,
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
      const ffufFindings = await ffuf(target, victim, {
        words: bodies,
        codes: FIVES,
        args: [
          '-X',
          method,
          ...headers.flatMap((header) => ['-H', header]),
          '-H',
          'Content-Type: application/json',
          '-d',
          'FUZZ',
        ],
        url: victim.url + path.replaceAll('STAR', 'x'),
      });
      findings.push(
        ...ffufFindings.map(({ status, input }): Finding => ({
          severity: 'high',
          title: `ffuf: ${method} ${path} answers ${status}`,
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
      title: `ffuf: ${url} is there (${status})`,
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
  const { output } = await runTool(
    'ffuf',
    ['-w', list, '-u', where, '-mc', codes, '-of', 'json', '-o', out, '-t', '4', '-timeout', '60', ...args],
    { seconds: 600, cwd: target.dir },
  );
  const requestCount = Number(/Progress: \[(\d+)\/\d+\](?![^]*Progress:)/.exec(output)?.[1] ?? 0);
  const errors = Number(/Errors: (\d+)(?![^]*Errors:)/.exec(output)?.[1] ?? 0);
  target.count('requests of ffuf', requestCount);
  if (requestCount === 0) throw new Error(`ffuf asked nothing: ${output.slice(-500)}`);
  if (errors > 0) target.note(`ffuf got no response to ${errors} of ${requestCount} requests to ${where}`);
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
    const queryString = query.map((name) => `${name}=1`).join('&');
    return `${victim.url}${path.replaceAll('STAR', 'x')}${queryString === '' ? '' : `?${queryString}`}`;
  });
  const starts = [...OPEN_PAGES.map((path) => victim.url + path), ...urls].flatMap((url) => ['-s', url]);
  const out = join(target.dir, 'wapiti.json');
  const minutes = Math.min(WAPITI_MINUTES, target.limits.sqlmapMinutes);
  const { output, isTimedOut } = await runTool(
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
    { seconds: minutes * 120, cwd: target.dir, input: 'r\n' },
  );
  target.count('addresses for wapiti', starts.length / 2);
  if (isTimedOut)
    target.note(`wapiti was stopped after ${minutes * 2} minutes, before it had run all of its modules`);
  const report = JSON.parse(await readFile(out, 'utf8').catch(() => '{}')) as Partial<WapitiReport>;
  if (!report.vulnerabilities) throw new Error(`wapiti wrote no report: ${output.slice(-800)}`);
  const all = { ...report.vulnerabilities, ...report.anomalies };
  for (const [name, entries] of Object.entries(all))
    for (const entry of entries) {
      const { path = '', info = '', level = 1 } = entry as { path?: string; info?: string; level?: number };
      findings.push({
        severity: level >= 3 ? 'high' : level === 2 ? 'medium' : 'low',
        title: `wapiti: ${name} at ${path}: ${info}`,
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
  let [completed, timedOut] = [0, 0];
  for (const route of withPlaces) {
    const remaining = (endsAt - Date.now()) / 1_000;
    if (remaining < 5) break;
    const file = join(target.dir, 'request.txt');
    writeFileSync(file, rawRequest(victim, route));
    const { output, isTimedOut } = await runTool(
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
      { seconds: Math.min(SQLMAP_ROUTE_S, remaining), cwd: target.dir },
    );
    if (isTimedOut) timedOut += 1;
    else completed += 1;
    const requestLine = `${route.method} ${route.path}`;
    if (/identified the following injection point|is vulnerable\b/.test(output))
      findings.push({
        severity: 'high',
        title: `sqlmap: ${requestLine} can be injected`,
        evidence: output.slice(-800),
      });
    const fives = /\b(5\d\d) \([^)]*\) - (\d+) times/.exec(output);
    if (fives)
      findings.push({
        severity: 'high',
        title: `sqlmap: ${requestLine} answered ${fives[1]}, ${fives[2]} times`,
      });
    if (
      !isTimedOut &&
      !/do not appear to be injectable|does not seem to be injectable|injection point/.test(output)
    )
      target.note(
        `sqlmap said nothing of ${requestLine}: ${output.trim().split('\n').slice(-3).join(' ').slice(0, 200)}`,
      );
  }
  target.count('routes for sqlmap', completed + timedOut);
  target.note(
    `sqlmap: ${completed} routes to their end, ${timedOut} cut after ${SQLMAP_ROUTE_S} s, ${withPlaces.length - completed - timedOut} not come to in ${target.limits.sqlmapMinutes} minutes`,
  );
  return findings;
}

function rawRequest(victim: Victim, { method, path, headers, body, query }: Route): string {
  const queryString = query.map((name) => `${name}=1*`).join('&');
  const requestBody = body === null ? '' : JSON.stringify(body).replaceAll('STAR', 'x*');
  return [
    `${method} ${path.replaceAll('STAR', 'x*')}${queryString === '' ? '' : `?${queryString}`} HTTP/1.1`,
    `Host: localhost:${victim.port}`,
    ...headers,
    ...(body === null ? [] : ['Content-Type: application/json']),
    '',
    requestBody,
  ].join('\r\n');
}
