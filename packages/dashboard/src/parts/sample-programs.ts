import { KEY_VARIABLE, type SampleCall } from './sample-calls.ts';

/** SampleTarget is the server and the API key of a sample call. Without a key, the sample reads it from a variable of the environment. */
type SampleTarget = { url: string; key?: string };

export type SampleLanguage = 'curl' | 'typescript' | 'python' | 'go' | 'ruby' | 'php';

export const SAMPLE_LANGUAGES: Record<SampleLanguage, string> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
  go: 'Go',
  ruby: 'Ruby',
  php: 'PHP',
};

/**
 * Returns a complete program that makes these calls. All samples of the dashboard come from here, so that they agree. Each call has a new
 * `Idempotency-Key`, a UUID of version 4.
 */
export function sampleOf(language: SampleLanguage, target: SampleTarget, calls: SampleCall[]): string {
  return PROGRAMS[language](target, calls);
}

type Program = (target: SampleTarget, calls: SampleCall[]) => string;

const PROGRAMS: Record<SampleLanguage, Program> = {
  curl: (target, calls) => calls.map((call) => curlOf(target, call)).join('\n'),
  typescript: typescriptOf,
  python: pythonOf,
  go: goOf,
  ruby: rubyOf,
  php: phpOf,
};

/** macOS and most Linux systems have `uuidgen`; the others have the file. */
const SHELL_UUID = '$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)';

function curlOf({ url, key = `$${KEY_VARIABLE}` }: SampleTarget, { path, body }: SampleCall): string {
  return [
    `curl ${url}/api/v1/${path}`,
    `-H "Authorization: Bearer ${key}"`,
    `-H "Idempotency-Key: ${SHELL_UUID}"`,
    `-H "Content-Type: application/json"`,
    // A value could otherwise end the quotes.
    `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
  ].join(' \\\n  ');
}

/** The methods of the client, by path. They take the body, or the list in it. */
const METHODS: Record<string, { name: string; list?: string }> = {
  users: { name: 'users.upsert' },
  events: { name: 'track' },
  'users/bulk': { name: 'users.bulk', list: 'users' },
  'events/batch': { name: 'batch', list: 'events' },
  'events/bulk': { name: 'events.bulk', list: 'events' },
};

function typescriptOf({ url, key }: SampleTarget, calls: SampleCall[]): string {
  const apiKey = key === undefined ? `process.env.${KEY_VARIABLE}` : JSON.stringify(key);
  const lines = calls.map(({ path, body }) => {
    const { name, list } = METHODS[path] ?? { name: path };
    const argument = list === undefined ? body : (body as Record<string, unknown>)[list];
    return `await beckon.${name}(${literalOf(argument, JAVASCRIPT)});`;
  });
  return `// npm install @beckon/client
import { Beckon } from '@beckon/client';

const beckon = new Beckon({ url: ${JSON.stringify(url)}, apiKey: ${apiKey} });

// The client sends an Idempotency-Key with each call, and keeps it over retries.
${lines.join('\n')}`;
}

function pythonOf({ url, key }: SampleTarget, calls: SampleCall[]): string {
  const lines = calls.map(({ path, body }) => `post(${text(path)}, ${literalOf(body, PYTHON)})`);
  return `import json, os, urllib.request, uuid

URL = ${text(`${url}/api/v1/`)}
KEY = ${key === undefined ? `os.environ[${text(KEY_VARIABLE)}]` : text(key)}

def post(path, body):
    request = urllib.request.Request(URL + path, data=json.dumps(body).encode(), headers={
        "Authorization": "Bearer " + KEY,
        "Idempotency-Key": str(uuid.uuid4()),
        "Content-Type": "application/json",
    })
    with urllib.request.urlopen(request) as response:
        print(response.status, response.read().decode())

${lines.join('\n')}`;
}

function goOf({ url, key }: SampleTarget, calls: SampleCall[]): string {
  const value = key === undefined ? `os.Getenv(${text(KEY_VARIABLE)})` : text(key);
  const lines = calls.map(({ path, body }) => `\tpost(${text(path)}, ${goText(JSON.stringify(body))})`);
  const imports = ['crypto/rand', 'fmt', 'io', 'net/http', ...(key === undefined ? ['os'] : []), 'strings'];
  return `package main

import (
${imports.map((name) => `\t${text(name)}`).join('\n')}
)

const url = ${text(`${url}/api/v1/`)}

var key = ${value}

func uuid() string {
	b := make([]byte, 16)
	rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func post(path, body string) {
	request, err := http.NewRequest("POST", url+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Idempotency-Key", uuid())
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	reply, _ := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, string(reply))
}

func main() {
${lines.join('\n')}
}`;
}

function rubyOf({ url, key }: SampleTarget, calls: SampleCall[]): string {
  const lines = calls.map(({ path, body }) => `post(${rubyText(path)}, ${literalOf(body, RUBY)})`);
  return `require "json"
require "net/http"
require "securerandom"

URL = ${rubyText(`${url}/api/v1/`)}
KEY = ${key === undefined ? `ENV.fetch(${rubyText(KEY_VARIABLE)})` : rubyText(key)}

def post(path, body)
  response = Net::HTTP.post(
    URI(URL + path),
    body.to_json,
    "Authorization" => "Bearer #{KEY}",
    "Idempotency-Key" => SecureRandom.uuid,
    "Content-Type" => "application/json"
  )
  puts "#{response.code} #{response.body}"
end

${lines.join('\n')}`;
}

function phpOf({ url, key }: SampleTarget, calls: SampleCall[]): string {
  const lines = calls.map(({ path, body }) => `post(${phpText(path)}, ${literalOf(body, PHP)});`);
  return `<?php

const URL = ${phpText(`${url}/api/v1/`)};
define('KEY', ${key === undefined ? `getenv(${phpText(KEY_VARIABLE)})` : phpText(key)});

function uuid(): string
{
    $bytes = random_bytes(16);
    $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
    $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
    return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
}

function post(string $path, array $body): void
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => [
            'Authorization: Bearer ' . KEY,
            'Idempotency-Key: ' . uuid(),
            'Content-Type: application/json',
        ],
        'content' => json_encode($body),
        'ignore_errors' => true,
    ]]);
    echo file_get_contents(URL . $path, false, $context), PHP_EOL;
}

${lines.join('\n')}`;
}

/** How a language writes the values of JSON. */
type Notation = {
  text: (value: string) => string;
  words: { null: string; true: string; false: string };
  list: readonly [open: string, close: string];
  object: readonly [open: string, close: string];
  key: (name: string) => string;
};

const WORDS = { null: 'null', true: 'true', false: 'false' };
const LIST = ['[', ']'] as const;

const JAVASCRIPT: Notation = {
  text,
  words: WORDS,
  list: LIST,
  object: ['{ ', ' }'],
  key: (name) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : text(name)}: `,
};
const PYTHON: Notation = {
  text,
  words: { null: 'None', true: 'True', false: 'False' },
  list: LIST,
  object: ['{', '}'],
  key: (name) => `${text(name)}: `,
};
const RUBY: Notation = {
  text: rubyText,
  words: { ...WORDS, null: 'nil' },
  list: LIST,
  object: ['{ ', ' }'],
  key: (name) => `${rubyText(name)} => `,
};
const PHP: Notation = {
  text: phpText,
  words: WORDS,
  list: LIST,
  object: LIST,
  key: (name) => `${phpText(name)} => `,
};

/** Returns a value of JSON in the notation of a language. */
function literalOf(value: unknown, notation: Notation): string {
  if (value === null || value === undefined) return notation.words.null;
  if (typeof value === 'boolean') return notation.words[value ? 'true' : 'false'];
  if (typeof value === 'string') return notation.text(value);
  if (Array.isArray(value))
    return enclosed(
      value.map((item) => literalOf(item, notation)),
      notation.list,
    );
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([name, inner]) => `${notation.key(name)}${literalOf(inner, notation)}`,
  );
  if (entries.length === 0 && notation === PHP) return '(object) []';
  return enclosed(entries, notation.object);
}

function enclosed(items: string[], [open, close]: readonly [string, string]): string {
  return items.length === 0 ? `${open}${close}`.replaceAll(' ', '') : `${open}${items.join(', ')}${close}`;
}

/** JavaScript, Python and Go read a text of JSON as it is. */
function text(value: string): string {
  return JSON.stringify(value);
}

/** Ruby evaluates `#{…}` in double quotes. */
function rubyText(value: string): string {
  return text(value).replaceAll('#', String.raw`\#`);
}

function phpText(value: string): string {
  return `'${value.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
}

/** JSON is readable in backquotes, which cannot contain one. */
function goText(value: string): string {
  return value.includes('`') ? text(value) : `\`${value}\``;
}
