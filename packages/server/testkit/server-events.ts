import { get, type IncomingMessage } from 'node:http';

/** One server-sent event. */
export type Told = { id: string | null; event: string; data: unknown };

export type EventListener = {
  response: IncomingMessage;
  /** Returns the next event, or undefined at the end. */
  next(): Promise<Told | undefined>;
  leave(): void;
};

/** Opens a stream of events and reads them one by one. */
export async function listenTo(url: string, headers: Record<string, string>): Promise<EventListener> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers }, resolve).on('error', reject);
  });
  const told = readEvents(response);
  return {
    response,
    next: async () => (await told.next()).value as Told | undefined,
    leave: () => response.destroy(),
  };
}

/** Returns the id at which a stream begins, for a client that reconnects before the first event. Closes the stream. */
export async function leaveAtBegin({ response }: EventListener): Promise<string> {
  let said = '';
  for await (const piece of response.setEncoding('utf8')) {
    said += String(piece);
    if (said.includes('\n\n')) break;
  }
  return /^id: (.+)$/m.exec(said)?.[1] ?? '';
}

async function* readEvents(response: IncomingMessage): AsyncGenerator<Told> {
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
