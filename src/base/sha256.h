// SHA-256 (FIPS 180-4) of bytes given in pieces, by OpenSSL's libcrypto.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace hone {

class Sha256 {
 public:
  Sha256();
  Sha256& add(std::string_view bytes);
  // 64 lower-case hexadecimal digits; ends the digest, nothing may be added after.
  std::string hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

inline std::string sha256(std::string_view bytes) { return Sha256().add(bytes).hex(); }

}  // namespace hone
