import { Type } from 'typebox';

const TO = Type.Union([Type.String({ minLength: 1, maxLength: 300 }), Type.Null()]);
const TYPE = Type.Union(
  (['auto', 'text', 'number', 'boolean', 'date', 'json'] as const).map((type) => Type.Literal(type)),
);

/** The last millisecond of a JavaScript date. */
const MOMENT_MAX = 8_640_000_000_000_000;

export const MAPPING = Type.Object(
  {
    columns: Type.Record(
      Type.String({ maxLength: 300 }),
      Type.Object({ to: TO, type: Type.Optional(TYPE) }, { additionalProperties: false }),
      { maxProperties: 500 },
    ),
    equal_rows_are_one: Type.Optional(Type.Boolean()),
    event_name: Type.Optional(Type.String({ maxLength: 255 })),
  },
  { additionalProperties: false },
);

/** One shape for all kinds of import; the handler distinguishes their fields. */
export const NEW_IMPORT = Type.Object(
  {
    kind: Type.Union([Type.Literal('users'), Type.Literal('events'), Type.Literal('stripe')]),
    name: Type.Optional(Type.String({ maxLength: 1_000 })),
    size_bytes: Type.Optional(Type.Integer({ minimum: 0 })),
    file_modified_at: Type.Optional(Type.Integer({ minimum: 0, maximum: MOMENT_MAX })),
    key: Type.Optional(Type.String({ maxLength: 300 })),
    unmatched_as_customers: Type.Optional(Type.Boolean()),
  },
  {
    if: { type: 'object', properties: { kind: { const: 'stripe' } } },
    then: { required: ['kind', 'key'] },
    else: { required: ['kind', 'name', 'size_bytes'] },
  },
);
