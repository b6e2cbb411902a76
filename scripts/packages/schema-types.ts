import * as schemas from '@beckon/contract/schema';

type Schema = {
  type?: string;
  const?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
};

const SCHEMAS = new Map(Object.entries(schemas).map(([name, schema]) => [name, schema as Schema]));

/** Replaces `Static<typeof schema.X>` by the type itself, because published declarations cannot import TypeBox. */
export function withoutSchemas(text: string): string {
  return text.replaceAll(/\bStatic<typeof schema\.(\w+)>/g, (_, name: string) => {
    const schema = SCHEMAS.get(name);
    if (!schema) throw new Error(`The contract has no schema ${name}`);
    return printType(schema);
  });
}

function printType(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === 'integer') return 'number';
  if (schema.type === 'array' && schema.items) return `${printType(schema.items)}[]`;
  if (schema.type === 'object') return schema.properties ? printObject(schema) : 'JsonObject';
  if (schema.type === 'string' || schema.type === 'boolean') return schema.type;
  throw new Error(`No type is known for the schema ${JSON.stringify(schema)}`);
}

function printObject({ properties = {}, required = [] }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${printType(schema)};`,
  );
  return `{ ${fields.join(' ')} }`;
}
