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

/** Returns each titled schema of the contract once; a nested one becomes a reference to it. */
function schemas(): Record<string, JsonSchema> {
  const plain = Object.values(contract).map((schema) => JSON.parse(JSON.stringify(schema)) as JsonSchema);
  return Object.fromEntries(
    plain.flatMap((schema) => (schema.title === undefined ? [] : [[schema.title, withRefs(schema)]])),
  );
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
      'A UUID v4, new for each logical write and the same on each of its retries. It accepts 1 to 255 visible ASCII characters. Without it, the request is stored each time it arrives.',
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
    description:
      'The compression of the body, if any. Only one encoding is allowed. Limits count decompressed bytes.',
    schema: { type: 'string', enum: ['identity', 'gzip', 'br', 'zstd'] },
    example: 'gzip',
  },
  UserAgent: {
    name: 'User-Agent',
    in: 'header',
    required: false,
    description:
      'Your client as `name/version`, the version in semver form. It is stored with the key to show which client uses the key.',
    schema: { type: 'string' },
    example: 'acme-backend/2.4.1',
  },
};

const text: JsonSchema = { type: 'string' };

const HEADERS = {
  'X-Request-Id': {
    description: 'The ID of this response. The server logs errors under it.',
    schema: text,
    example: '0197f1a4-5f0e-7c3a-9f5e-2b8d6c1e4a70',
  },
  RateLimit: {
    description:
      'The remaining requests (`r`) and the seconds until one more is available (`t`). Sent for every valid key.',
    schema: text,
    example: '"events";r=1998;t=1',
  },
  'RateLimit-Policy': {
    description: 'The rate: `q` requests every `w` seconds. Sent for every valid key.',
    schema: text,
    example: '"events";q=1000;w=1',
  },
  'Idempotent-Replayed': {
    description:
      '`true` if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'X-Client-Outdated': {
    description: 'The minimum version of your client, if the version in your `User-Agent` is older.',
    schema: text,
    example: '2.0.0',
  },
  'Retry-After': {
    description: 'Whole seconds to wait before you send the request again.',
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
    example: '3',
  },
  'WWW-Authenticate': {
    description: 'The scheme to authenticate with.',
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
  'Accept-Encoding': {
    description: 'The accepted encodings of a body.',
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
