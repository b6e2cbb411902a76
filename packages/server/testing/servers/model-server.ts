import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The next behavior of the model. `answer`: this object, as JSON, in the form of the protocol in use. */
export type Script =
  | { kind: 'answer'; value: unknown }
  /** Answers with this text instead of an object. */
  | { kind: 'text'; text: string }
  | { kind: 'declined' }
  | { kind: 'status'; status: number }
  | { kind: 'redirect'; to: string }
  | { kind: 'endless' }
  /** Accepts the request and does not answer. */
  | { kind: 'hang' }
  /** Answers after `first` has resolved. */
  | { kind: 'after'; first: Promise<unknown>; then: Script }
  /** Begins to answer, one byte at a time, and never ends. */
  | { kind: 'drip' };

export type ModelHttpRequest = {
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  /** All text of the request, in any protocol. */
  text: string;
};

export type ModelServer = {
  /** The base URL without a path. */
  url: string;
  requests: ModelHttpRequest[];
  /** Resolves after this many requests. */
  waitForRequests(times: number): Promise<void>;
  /** Sets the behavior for every request from now on. */
  script(decide: (request: ModelHttpRequest) => Script): void;
  /** Closes all connections with a pending response. */
  drop(): Promise<void>;
  close(): Promise<void>;
};

/** Starts a model on loopback that supports the protocols of OpenAI-compatible endpoints and of Anthropic. */
export async function modelServer(): Promise<ModelServer> {
  const requests: ModelHttpRequest[] = [];
  const waiting: { times: number; go: () => void }[] = [];
  let decide: (request: ModelHttpRequest) => Script = () => ({ kind: 'status', status: 500 });
  const drips = new Set<NodeJS.Timeout>();

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const modelRequest: ModelHttpRequest = {
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(text) as Record<string, unknown>,
      text,
    };
    requests.push(modelRequest);
    const script = decide(modelRequest);
    for (const { times, go } of waiting) if (requests.length >= times) go();
    play(script, { modelRequest, response, drips });
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    waitForRequests: (times) =>
      requests.length >= times
        ? Promise.resolve()
        : new Promise((go) => {
            waiting.push({ times, go });
          }),
    script(next) {
      decide = next;
    },
    drop() {
      server.closeAllConnections();
      return Promise.resolve();
    },
    async close() {
      for (const drip of drips) clearInterval(drip);
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

type Playback = { modelRequest: ModelHttpRequest; response: ServerResponse; drips: Set<NodeJS.Timeout> };

function play(script: Script, { modelRequest, response, drips }: Playback): void {
  const json = (value: unknown): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  switch (script.kind) {
    case 'answer':
      return json(objectIn(modelRequest, script.value));
    case 'text':
      return json(textIn(modelRequest, script.text, { openai: 'stop', anthropic: 'end_turn' }));
    case 'declined':
      return json(textIn(modelRequest, '', { openai: 'content_filter', anthropic: 'refusal' }));
    case 'status':
      response
        .writeHead(script.status, { 'content-type': 'application/json' })
        .end('{"error":{"message":"the canary of the endpoint"}}');
      return;
    case 'redirect':
      response.writeHead(307, { location: script.to }).end();
      return;
    case 'endless':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`"${'x'.repeat(2_000_000)}"`);
      return;
    case 'hang':
      return;
    case 'after': {
      const go = (): void => play(script.then, { modelRequest, response, drips });
      script.first.then(go, go);
      return;
    }
    case 'drip': {
      response.writeHead(200, { 'content-type': 'application/json' });
      drips.add(setInterval(() => response.write(' '), 20));
      return;
    }
    default:
      script satisfies never;
  }
}

function objectIn(modelRequest: ModelHttpRequest, value: unknown): object {
  return speaksAnthropic(modelRequest) ? anthropic(modelRequest, value) : openai(JSON.stringify(value));
}

function textIn(
  modelRequest: ModelHttpRequest,
  text: string,
  ends: { openai: string; anthropic: string },
): object {
  return speaksAnthropic(modelRequest) ? anthropicText(text, ends.anthropic) : openai(text, ends.openai);
}

function speaksAnthropic({ path }: ModelHttpRequest): boolean {
  return path.endsWith('/messages');
}

function openai(content: string, finish = 'stop'): object {
  return {
    id: 'chat-1',
    object: 'chat.completion',
    created: 1,
    model: 'test',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/** Answers with a tool call if the request names a tool, and with text if it names a format. */
function anthropic({ body }: ModelHttpRequest, value: unknown): object {
  const [tool] = (body.tools ?? []) as { name: string }[];
  if (!tool) return anthropicText(JSON.stringify(value), 'end_turn');
  const content = [{ type: 'tool_use', id: 'tool-1', name: tool.name, input: value }];
  return { ...anthropicText('', 'tool_use'), content };
}

function anthropicText(text: string, stop: string): object {
  return {
    id: 'msg-1',
    type: 'message',
    role: 'assistant',
    model: 'test',
    content: text === '' ? [] : [{ type: 'text', text }],
    stop_reason: stop,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}
