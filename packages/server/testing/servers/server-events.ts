import { get, type IncomingMessage } from 'node:http';

/** One server-sent event. */
export type ServerEvent = { id: string | null; event: string; data: unknown };

export type EventListener = {
  response: IncomingMessage;
  /** Returns the next event, or undefined at the end. */
  next(): Promise<ServerEvent | undefined>;
  leave(): void;
};

/** Opens a stream of events and reads them one by one. */
export async function listenTo(url: string, headers: Record<string, string>): Promise<EventListener> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers }, resolve).on('error', reject);
  });
  const events = readEvents(response);
  return {
    response,
    next: async () => (await events.next()).value as ServerEvent | undefined,
    leave: () => response.destroy(),
  };
}

/** Returns the id at which a stream begins, for a client that reconnects before the first event. Closes the stream. */
export async function leaveAtBegin({ response }: EventListener): Promise<string> {
  let text = '';
  for await (const piece of response.setEncoding('utf8')) {
    text += String(piece);
    if (text.includes('\n\n')) break;
  }
  return /^id: (.+)$/m.exec(text)?.[1] ?? '';
}

async function* readEvents(response: IncomingMessage): AsyncGenerator<ServerEvent> {
  let rest = '';
  for await (const piece of response.setEncoding('utf8')) {
    rest += String(piece);
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const fields = new Map(
        rest
          .slice(0, end)
          .split('\n')
          .map((line): [string, string] => [
            line.split(': ', 1)[0] ?? '',
            line.slice(line.indexOf(': ') + 2),
          ]),
      );
      rest = rest.slice(end + 2);
      const data = fields.get('data');
      if (data === undefined) continue;
      const event = fields.get('event') ?? 'message';
      yield { id: fields.get('id') ?? null, event, data: JSON.parse(data) as unknown };
    }
  }
}
