import { IDEMPOTENCY_KEY_MAX_CHARS } from '@beckon/contract';
import * as contract from '@beckon/contract/schema';
import type { Header, JsonSchema, OpenApiDocument, Ref } from './openapi.ts';

export function components(): OpenApiDocument['components'] {
  return { schemas: schemas(), parameters: PARAMETERS, headers: HEADERS, securitySchemes: SECURITY_SCHEMES };
}

export function schemaRef(title: string): Ref {
  return { $ref: `#/components/schemas/${title}` };
}

export function parameterRefs(): Ref[] {
  return Object.keys(PARAMETERS).map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

export type HeaderName = keyof typeof HEADERS;

export function headerRefs(names: Iterable<HeaderName>): Record<string, Ref> {
  return Object.fromEntries([...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export function isDescribedHeader(name: string): name is HeaderName {
  return Object.hasOwn(HEADERS, name);
}

/** Each titled schema of the contract once; where one stands inside another, a reference to it. */
function schemas(): Record<string, JsonSchema> {
  const plain = Object.values(contract).map((schema) => JSON.parse(JSON.stringify(schema)) as JsonSchema);
  return Object.fromEntries(plain.map((schema) => [schema.title ?? '', withRefs(schema)]));
}

function withRefs(schema: JsonSchema): JsonSchema {
  const { properties, items, ...rest } = schema;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [name, refOrInner(inner)]),
      ),
    }),
    ...(items && { items: refOrInner(items) }),
  };
}

function refOrInner(schema: JsonSchema): JsonSchema {
  return schema.title === undefined ? withRefs(schema) : schemaRef(schema.title);
}

const PARAMETERS: OpenApiDocument['components']['parameters'] = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A UUID v4, new for each logical write and the same on each of its retries. Any 1 to 255 visible ASCII characters are taken. Left out: the request is stored each time it arrives.',
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: IDEMPOTENCY_KEY_MAX_CHARS,
      pattern: '^[\\x21-\\x7e]+$',
    },
    example: '6f1f7c1e-9b1a-4c0b-8d55-6a1f1b0d2c3e',
  },
  ContentEncoding: {
    name: 'Content-Encoding',
    in: 'header',
    required: false,
    description: 'How the body is compressed, if it is; one coding only. Limits count decompressed bytes.',
    schema: { type: 'string', enum: ['identity', 'gzip', 'br', 'zstd'] },
    example: 'gzip',
  },
  UserAgent: {
    name: 'User-Agent',
    in: 'header',
    required: false,
    description:
      'Your client as `name/version`, the version in semver form. Kept with the key, so that it can be seen which client uses it.',
    schema: { type: 'string' },
    example: 'acme-backend/2.4.1',
  },
};

const text: JsonSchema = { type: 'string' };

const HEADERS = {
  'X-Request-Id': {
    description: 'The id of this answer; the server logs what went wrong under it.',
    schema: text,
    example: '0197f1a4-5f0e-7c3a-9f5e-2b8d6c1e4a70',
  },
  RateLimit: {
    description:
      'Requests left now (`r`), and the seconds until there is one more (`t`). Sent once the key is known.',
    schema: text,
    example: '"events";r=1998;t=1',
  },
  'RateLimit-Policy': {
    description: 'The rate: `q` requests every `w` seconds. Sent once the key is known.',
    schema: text,
    example: '"events";q=1000;w=1',
  },
  'Idempotent-Replayed': {
    description:
      '`true` where this answer was first given to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'X-Client-Outdated': {
    description:
      'The least version that this server wants of your client, where your `User-Agent` is below it.',
    schema: text,
    example: '2.0.0',
  },
  'Retry-After': {
    description: 'Whole seconds to wait before the request is sent again.',
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
    example: '3',
  },
  'WWW-Authenticate': {
    description: 'The scheme to authenticate with.',
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
  'Accept-Encoding': {
    description: 'The codings in which a body is taken.',
    schema: text,
    example: 'gzip, br, zstd',
  },
  Location: {
    description: 'The same path at the https address.',
    schema: text,
    example: 'https://beckon.example/api/v1/events',
  },
} as const satisfies Record<string, Header>;

const SECURITY_SCHEMES: OpenApiDocument['components']['securitySchemes'] = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sk_live_…',
    description:
      'An API key of the project, in the `Authorization` header. Never in the query string, where it is ignored.',
  },
};
