import type { FaultCode, PropertyRule } from '@beckon/contract';

/** The parts of OpenAPI 3.1 that this document uses, and extensions of our own (`x-…`), which the guide shows as tables. */
export type OpenApiDocument = {
  openapi: '3.1.0';
  info: {
    title: string;
    summary: string;
    description: string;
    version: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string; description: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, JsonSchema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, SecurityScheme>;
  };
  'x-faults': FaultEntry[];
  'x-limits': LimitEntry[];
  'x-rate-limits': RateLimitEntry[];
  'x-canonical-events': Record<string, Record<string, PropertyRule>>;
};

export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters: Ref[];
  requestBody: { required: true; description: string; content: OpenApiContent };
  responses: Record<string, Response>;
  /** Many readers of OpenAPI support this name. */
  'x-codeSamples': { lang: string; label: string; source: string }[];
};

export type Response = { description: string; headers: Record<string, Ref>; content: OpenApiContent };
export type OpenApiContent = { 'application/json': { schema: Ref; examples: Record<string, Example> } };
export type Example = { summary: string; value: unknown };
export type Ref = { $ref: string };

export type JsonSchema = {
  $ref?: string;
  title?: string;
  type?: string;
  const?: unknown;
  format?: string;
  description?: string;
  default?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: string[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

type Parameter = {
  name: string;
  in: 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
  example: string;
};
export type Header = { description: string; schema: JsonSchema; example: string };
type SecurityScheme = { type: 'http'; scheme: 'bearer'; bearerFormat: string; description: string };

export type FaultEntry = {
  code: FaultCode;
  statuses: number[];
  message: string;
  when: string;
  remedy: string;
};
export type LimitEntry = { name: string; value: string };
export type RateLimitEntry = { path: string; rate: number; burst: number };
