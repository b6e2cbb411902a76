import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlOf, firstCalls } from './sample-calls.ts';

/** The arguments of the calls, as the shell passes them. */
function argumentsOf(text: string, env: Record<string, string> = {}): string[] {
  return execFileSync('bash', ['-c', `curl() { printf '%s\\n' "$@"; }\n${text}`], { env })
    .toString()
    .split('\n');
}

describe('curlOf', () => {
  it('reads the key from a variable of the shell', () => {
    const text = curlOf({ url: 'https://mail.x.org' }, 'users', {});
    expect(argumentsOf(text, { BECKON_API_KEY: 'sk_live_x' })).toContain('Authorization: Bearer sk_live_x');
    expect(text).not.toMatch(/sk_/);
  });

  it('passes any value unchanged', () => {
    const body = { name: `'; touch x; echo '$(id)\`id\`` };
    expect(argumentsOf(curlOf({ url: 'https://mail.x.org' }, 'events', body))).toContain(
      JSON.stringify(body),
    );
  });
});

describe('firstCalls', () => {
  it('sends a user with an address, and the event of the welcome rule', () => {
    const target = { url: 'http://localhost:8080', key: 'sk_live_x' };
    const output = argumentsOf(firstCalls(target, { user: 'user_7', email: "o'ada@x.org" }));
    expect(output).toContain('http://localhost:8080/api/v1/users');
    expect(output).toContain('Authorization: Bearer sk_live_x');
    expect(output).toContain('{"external_user_id":"user_7","email":"o\'ada@x.org","traits":{"name":"Ada"}}');
    expect(output).toContain('http://localhost:8080/api/v1/events');
    expect(output).toContain('{"external_user_id":"user_7","name":"user_signed_up"}');
  });
});
