import type { JSONSchema7, LanguageModel } from 'ai';

/**
 * A language model that answers one question at a time by a JSON schema. It gets no tools, one attempt and ten seconds. Every failure is a
 * result; nothing is thrown.
 */
export type DraftModel = {
  name: string;
  generate(request: ModelRequest, signal: AbortSignal): Promise<ModelResponse>;
};

export type ModelRequest = { instructions: string; prompt: string; schema: object };

export type ModelResponse =
  /** The value may still violate the schema. */
  | { kind: 'answer'; value: unknown }
  /** The answer is not JSON. */
  | { kind: 'unreadable' }
  /** The model refused, or a filter stopped it. */
  | { kind: 'declined' }
  /** No answer: unreachable, too slow, too long, or an error of the endpoint. */
  | { kind: 'failed'; reason: string };

export type ModelSettings = { baseUrl: string; apiKey: string; name: string };
export type ModelOptions = ModelSettings & { withinMs?: number };

const WITHIN_MS = 10_000;
const TOKENS_MAX = 2_000;
const REASON_MAX_CHARS = 200;

export function openModel(options: ModelOptions): DraftModel {
  const { name, withinMs = WITHIN_MS } = options;
  // Loaded at the first request, because only workers need the library, and it is large.
  let opened: Promise<Opened> | undefined;
  return {
    name,
    async generate(request, signal) {
      try {
        opened ??= open(options);
        const within = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
        return await generateOnce(await opened, request, within);
      } catch (error) {
        return { kind: 'failed', reason: reasonOf(error) };
      }
    },
  };
}

type Opened = { ai: typeof import('ai'); model: LanguageModel };

async function open({ baseUrl, apiKey, name }: ModelOptions): Promise<Opened> {
  // Otherwise the library writes warnings to the console.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  const ai = await import('ai');
  const baseURL = baseUrl.replace(/#.*/s, '').replace(/(?<!\/)\/+$/, '');
  if (speaksAnthropic(baseUrl)) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return { ai, model: createAnthropic({ baseURL, apiKey, fetch: boundedFetch })(name) };
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name: 'model',
    baseURL,
    apiKey,
    fetch: boundedFetch,
    supportsStructuredOutputs: true,
  });
  return { ai, model: provider(name) };
}

/**
 * Returns whether the endpoint uses Anthropic's API: by its host, or if the URL ends in `#anthropic`, which is never sent. All others use
 * OpenAI's.
 */
export function speaksAnthropic(baseUrl: string): boolean {
  const { hostname, hash } = new URL(baseUrl);
  return hash === '#anthropic' || hostname === 'anthropic.com' || hostname.endsWith('.anthropic.com');
}

async function generateOnce(
  { ai, model }: Opened,
  { instructions, prompt, schema }: ModelRequest,
  abortSignal: AbortSignal,
): Promise<ModelResponse> {
  try {
    const result = await ai.generateText({
      model,
      instructions,
      prompt,
      output: ai.Output.object({ schema: ai.jsonSchema(schema as JSONSchema7), name: 'email' }),
      maxOutputTokens: TOKENS_MAX,
      maxRetries: 0,
      abortSignal,
      telemetry: { isEnabled: false },
    });
    if (result.finishReason === FILTERED) return { kind: 'declined' };
    return { kind: 'answer', value: result.output };
  } catch (error) {
    if (!ai.NoObjectGeneratedError.isInstance(error) && !ai.NoOutputGeneratedError.isInstance(error))
      throw error;
    const isFiltered = 'finishReason' in error && error.finishReason === FILTERED;
    return { kind: isFiltered ? 'declined' : 'unreadable' };
  }
}

const FILTERED = 'content-filter';

/** Never includes the body of the answer, whose content is unknown. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  if (error.name === 'TimeoutError') return 'it did not answer in time';
  const status =
    'statusCode' in error && typeof error.statusCode === 'number' ? `status ${error.statusCode}` : null;
  return (status ?? `${error.name}: ${error.message}`).slice(0, REASON_MAX_CHARS);
}

/** The answer for an email has a few thousand bytes. */
const ANSWER_MAX_BYTES = 512 * 1024;

/** Like `fetch`, but without redirects and with a bounded answer. */
async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'error' });
  if (!response.body) return response;
  let bytes = 0;
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > ANSWER_MAX_BYTES) controller.error(new Error('the response of the model is too long'));
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(bounded, { status, statusText, headers });
}
