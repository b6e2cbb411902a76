import { once } from 'node:events';
import tls from 'node:tls';

/** Returns the name in the certificate that is served at this port. */
export async function nameServed(port: number): Promise<string> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}
