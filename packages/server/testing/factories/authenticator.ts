import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

type Options = Record<string, unknown>;

/**
 * A software passkey: ES256, no attestation, one credential. `settings` may change between uses. `verifiesUser` is whether the
 * authenticator verified the user by PIN, finger or face. `counts: false` always reports the same number of uses, as a copy would.
 */
export function authenticator({ origin, verifiesUser = true }: { origin: string; verifiesUser?: boolean }) {
  const settings = { verifiesUser, counts: true };
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  const rpIdHash = createHash('sha256').update(new URL(origin).hostname).digest();
  let counter = 0;

  const clientData = (type: string, challenge: unknown): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const flags = (attested: boolean): number => 1 | (settings.verifiesUser ? 4 : 0) | (attested ? 64 : 0);
  const authData = (attested: boolean): Buffer => {
    if (settings.counts) counter += 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([
      rpIdHash,
      Buffer.from([flags(attested)]),
      count,
      attested ? credential() : Buffer.alloc(0),
    ]);
  };
  const credential = (): Buffer =>
    Buffer.concat([
      Buffer.alloc(16),
      Buffer.from([0, credentialId.length]),
      credentialId,
      // COSE: kty EC2, alg ES256, crv P-256, x, y.
      Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32]),
      Buffer.from(x, 'base64url'),
      Buffer.from([0x22, 0x58, 32]),
      Buffer.from(y, 'base64url'),
    ]);

  return {
    settings,
    register({ challenge }: Options) {
      const data = authData(true);
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.from([0xa0]),
        cborText('authData'),
        Buffer.from([0x58, data.length]),
        data,
      ]);
      return credentialWith({
        clientDataJSON: clientData('webauthn.create', challenge).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      });
    },
    sign({ challenge }: Options) {
      const [data, client] = [authData(false), clientData('webauthn.get', challenge)];
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      return credentialWith({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: createSign('sha256').update(signed).sign(privateKey).toString('base64url'),
      });
    },
  };

  function credentialWith(response: object) {
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}
