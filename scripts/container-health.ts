import { get as getPlain } from 'node:http';
import { get as getTls } from 'node:https';

/**
 * Reports as an exit code whether the server in this container is ready. It connects to the server's own port by HTTP or HTTPS, as
 * configured, and ignores that the certificate does not match this address. A process without the API role is not checked.
 */
const { PORT, HOST, TLS_CERT_FILE, ROLES } = process.env;
const WITHIN_MS = 4_000;

const roles = (ROLES || 'all').split(',').map((role) => role.trim());
if (roles.includes('all') || roles.includes('api')) probe();

function probe(): void {
  const get = TLS_CERT_FILE ? getTls : getPlain;
  const options = {
    host: !HOST || HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST,
    port: Number(PORT || 8080),
    path: '/readyz',
    rejectUnauthorized: false,
    timeout: WITHIN_MS,
  };
  const request = get(options, (response) => {
    response.resume();
    process.exitCode = response.statusCode === 200 ? 0 : 1;
  });
  request.on('timeout', () => request.destroy(new Error('no answer')));
  request.on('error', (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
