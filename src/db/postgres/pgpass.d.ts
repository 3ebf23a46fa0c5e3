declare module 'pgpass' {
  function pgpass(connection: object, done: (password: string | undefined) => void): void;
  namespace pgpass {
    function warnTo(stream: object): void;
  }
  export default pgpass;
}
